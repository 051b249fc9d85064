// Straight-line programs and what runs them.
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <ctime>

#include "bindings.hpp"
#include "programs/c_source.hpp"
#include "programs/compiled_program.hpp"
#include "programs/llvm_source.hpp"
#include "programs/sine_cosine.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

using Points = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Results = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Result = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ProgramSteps = nb::ndarray<const std::uint32_t, nb::shape<-1, 5>, nb::c_contig, nb::device::cpu>;
using TableList = std::vector<std::pair<std::string, std::vector<double>>>;

Program make_program(int inputs, std::vector<double> constants, int slots, const ProgramSteps& steps,
                     std::vector<std::uint32_t> outputs, const TableList& tables) {
    Program program{inputs, std::move(constants), slots, {}, std::move(outputs), {}};
    for (std::size_t i = 0; i < steps.shape(0); ++i) {
        const std::uint32_t* s = steps.data() + 5 * i;
        if (s[0] >= static_cast<std::uint32_t>(kProgramOps))
            throw std::invalid_argument("program: operation number " + std::to_string(s[0]));
        program.instructions.push_back({static_cast<ProgramOp>(s[0]), s[1], s[2], s[3], s[4]});
    }
    for (const auto& [kind, params] : tables) program.tables.push_back({kind, params});
    check(program);
    return program;
}

using StepTable = nb::ndarray<nb::numpy, std::uint32_t, nb::shape<-1, 5>>;

StepTable steps_of(const Program& program) {
    const std::size_t count = program.instructions.size();
    auto* data = new std::uint32_t[5 * count + 1];
    const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<std::uint32_t*>(p); });
    for (std::size_t i = 0; i < count; ++i) {
        const Instruction& s = program.instructions[i];
        const std::uint32_t row[5] = {static_cast<std::uint32_t>(s.op), s.out, s.a, s.b, s.c};
        std::copy_n(row, 5, data + 5 * i);
    }
    return {data, {count, 5}, owner};
}

void check_size(std::size_t given, int wanted, const char* what) {
    if (given != static_cast<std::size_t>(wanted))
        throw std::invalid_argument(std::string(what) + ": " + std::to_string(wanted) + " numbers expected, " +
                                    std::to_string(given) + " given");
}

void evaluate(const CompiledProgram& self, const Numbers& in, const Result& out, bool interpret) {
    check_size(in.size(), self.inputs(), "inputs");
    check_size(out.size(), self.outputs(), "outputs");
    const nb::gil_scoped_release release;
    const std::unique_ptr<double[]> work(new double[self.work_size()]);
    if (interpret)
        self.interpret(in.data(), out.data(), work.get());
    else
        self.evaluate(in.data(), out.data(), work.get());
}

void evaluate_batch(const CompiledProgram& self, const Points& rows, const Numbers& shared, const Results& out,
                    int threads, bool interpret) {
    check_size(rows.shape(1) + shared.size(), self.inputs(), "inputs of a point");
    check_size(out.shape(1), self.outputs(), "outputs of a point");
    check_size(out.shape(0), static_cast<int>(rows.shape(0)), "points of the results");
    const nb::gil_scoped_release release;
    self.evaluate_batch(rows.data(), rows.shape(0), static_cast<int>(rows.shape(1)), shared.data(), out.data(), threads,
                        !interpret);
}

// Changes of the outputs along changes of the inputs.
void evaluate_tangents(const CompiledProgram& self, const Numbers& in, const Points& changes, const Results& out) {
    check_size(in.size(), self.inputs(), "inputs");
    check_size(changes.shape(1), self.inputs(), "inputs of a change");
    check_size(out.shape(1), self.outputs(), "outputs of a change");
    check_size(out.shape(0), static_cast<int>(changes.shape(0)), "changes of the results");
    constexpr std::size_t lanes = sizeof(Four) / sizeof(double);
    const nb::gil_scoped_release release;
    std::vector<Dual4> along(in.data(), in.data() + in.size());
    for (std::size_t from = 0; from < changes.shape(0); from += lanes) {
        const std::size_t count = std::min(lanes, changes.shape(0) - from);
        for (std::size_t k = 0; k < count; ++k)
            for (std::size_t i = 0; i < along.size(); ++i)
                along[i].d[k] = changes.data()[(from + k) * along.size() + i];
        const std::span<const Dual4> found = self.tangent(along);
        for (std::size_t k = 0; k < count; ++k)
            for (std::size_t i = 0; i < found.size(); ++i) out.data()[(from + k) * found.size() + i] = found[i].d[k];
    }
}

// Seconds of processor time for one evaluation: the mean of so many in a row.
double seconds(const CompiledProgram& self, const Numbers& in, int repetitions, bool interpret) {
    check_size(in.size(), self.inputs(), "inputs");
    const std::unique_ptr<double[]> work(new double[self.work_size()]);
    std::vector<double> out(static_cast<std::size_t>(self.outputs()));
    const std::clock_t start = std::clock();
    for (int k = 0; k < repetitions; ++k) {
        if (interpret)
            self.interpret(in.data(), out.data(), work.get());
        else
            self.evaluate(in.data(), out.data(), work.get());
    }
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / repetitions;
}

// Keeps a Python object alive from C++; let go with the GIL, or never once Python has ended.
std::shared_ptr<void> kept(nb::object object) {
    return {object.release().ptr(), [](void* p) {
                if (!Py_IsInitialized()) return;
                const nb::gil_scoped_acquire acquire;
                Py_DECREF(static_cast<PyObject*>(p));
            }};
}

void bind_program(nb::module_& m) {
    nb::class_<Program>(m, "Program", "Straight-line program: inputs, constants, instructions over slots, outputs.")
        .def(nb::new_(&make_program), "inputs"_a, "constants"_a, "slots"_a, "steps"_a, "outputs"_a,
             "tables"_a = TableList{},
             "steps: (n, 5), operation, out, a, b, c. tables: pairs of kind and parameters. Raises ValueError for a "
             "program that is not sound.")
        .def_ro("inputs", &Program::inputs, "Number of inputs; they are the first slots.")
        .def_ro("constants", &Program::constants, "The slots after the inputs.")
        .def_ro("slots", &Program::slots, "Number of slots.")
        .def_prop_ro("steps", &steps_of, nb::rv_policy::automatic, "Instructions (n, 5): operation, out, a, b, c.")
        .def_ro("outputs", &Program::outputs, "The slots that hold the results.")
        .def_prop_ro(
            "tables",
            [](const Program& self) {
                TableList tables;
                for (const ProgramTable& table : self.tables) tables.emplace_back(table.kind, table.params);
                return tables;
            },
            "Kind and parameters of each table.");
}

void bind_compiled(nb::module_& m) {
    nb::class_<CompiledProgram>(m, "CompiledProgram", nb::is_weak_referenceable(),
                                "A program that can be run, by interpreter or native code.")
        .def(nb::init<Program>(), "program"_a)
        .def_prop_ro("program", &CompiledProgram::program, nb::rv_policy::reference_internal, "What it runs.")
        .def("evaluate", &evaluate, "inputs"_a, "out"_a, "interpret"_a = false,
             "One point: inputs (inputs,), out (outputs,), which do not overlap. interpret: not by native code.")
        .def("evaluate_batch", &evaluate_batch, "rows"_a, "shared"_a, "out"_a, "threads"_a = 0, "interpret"_a = false,
             "Many points: rows (n, k), the other inputs shared by all (inputs - k,), out (n, outputs). threads 0: as "
             "many as pay.")
        .def("evaluate_tangents", &evaluate_tangents, "inputs"_a, "changes"_a, "out"_a,
             "Changes of the outputs, out (n, outputs), along changes of the inputs (n, inputs) at one point.")
        .def("seconds", &seconds, "inputs"_a, "repetitions"_a, "interpret"_a = false,
             "Seconds of processor time for one evaluation, the mean of so many in a row.")
        .def(
            "set_native",
            [](CompiledProgram& self, std::uintptr_t address, int lanes, nb::object keeper) {
                self.set_native(reinterpret_cast<NativeEntry>(address), lanes, kept(std::move(keeper)));
            },
            "address"_a, "lanes"_a, "keeper"_a,
            "Native code for 1 point, or 4 or 8 side by side; keeper is kept alive with it.")
        .def_prop_ro("native", &CompiledProgram::native, "Whether one point is evaluated by native code.")
        .def_prop_ro("native_lanes", &CompiledProgram::native_lanes,
                     "Points side by side in the native code for many points; 0 while there is none.");
}

}  // namespace

void bind_programs(nb::module_& m) {
    m.def(
        "program_ops",
        [] {
            std::vector<std::pair<std::string, int>> ops;
            for (int op = 0; op < kProgramOps; ++op)
                ops.emplace_back(op_name(static_cast<ProgramOp>(op)), op_operands(static_cast<ProgramOp>(op)));
            return ops;
        },
        "Name and number of operands of each operation, by its number.");
    bind_program(m);
    bind_compiled(m);
    m.def(
        "llvm_source",
        [](const Program& program, int lanes, int operations, int functions) {
            const nb::gil_scoped_release release;
            return llvm_source(program, {lanes, operations, functions, "bellcrank_program"});
        },
        "program"_a, "lanes"_a = 1, "operations"_a = 500, "functions"_a = 1,
        "The program as LLVM IR, as a function bellcrank_program for that many points side by side: modules to be "
        "linked, in functions of so many operations, so many of them in a module.");
    m.def(
        "c_source",
        [](const Program& program, const std::string& name, const std::vector<std::string>& input_names,
           const std::vector<std::string>& output_names) {
            CSource both = c_source(program, name, input_names, output_names);
            return std::pair(std::move(both.header), std::move(both.source));
        },
        "program"_a, "name"_a, "input_names"_a = std::vector<std::string>(),
        "output_names"_a = std::vector<std::string>(),
        "Header and source of the program as a C function of that name. Raises ValueError if it cannot be one.");
    m.def(
        "c_function",
        [](const Program& program, std::string name, std::string arguments, std::vector<std::string> argument_names,
           std::vector<std::string> inputs) {
            check_size(inputs.size(), program.inputs, "inputs");
            return c_function(program,
                              {std::move(name), std::move(arguments), std::move(argument_names), std::move(inputs)});
        },
        "program"_a, "name"_a, "arguments"_a, "argument_names"_a, "inputs"_a,
        "The program as a portable C function. inputs: what each input is called there. Raises ValueError for what is "
        "no name.");
    m.def("c_table_functions", &c_table_functions, "programs"_a,
          "What tables of programs need in a C file. Raises ValueError for tables that C cannot have.");
    m.def(
        "sine_cosine",
        [](const Numbers& x, const Results& out) {
            if (out.shape(0) != x.size() || out.shape(1) != 2) throw std::invalid_argument("out is not (n, 2)");
            for (std::size_t i = 0; i < x.size(); ++i) {
                const SineCosine both = apply_sine_cosine(x.data()[i], library_calls());
                out(i, 0) = both.sine;
                out(i, 1) = both.cosine;
            }
        },
        "x"_a, "out"_a, "Sine and cosine (n, 2) of x (n,), as programs compute them.");
}

}  // namespace bellcrank
