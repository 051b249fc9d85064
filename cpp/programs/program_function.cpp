// Kind "program": parameters are the number of a published program and the program's inputs after the variable.
#include "programs/program_function.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "functions/function.hpp"

namespace bellcrank {

namespace {

struct Published {
    std::mutex mutex;
    std::map<int, std::shared_ptr<const CompiledProgram>> programs;
    int next = 0;
};

Published& published() {
    static Published all;
    return all;
}

}  // namespace

std::shared_ptr<const CompiledProgram> published_program(std::span<const double> params) {
    if (params.empty()) throw std::invalid_argument("program function: the number of its program is missing");
    Published& all = published();
    const std::lock_guard lock(all.mutex);
    const auto found = all.programs.find(static_cast<int>(params[0]));
    if (found == all.programs.end())
        throw std::invalid_argument("program function: there is no program number " + std::to_string(params[0]));
    return found->second;
}

namespace {

void check(std::span<const double> params) {
    const auto program = published_program(params);
    if (params.size() != static_cast<std::size_t>(program->inputs()))
        throw std::invalid_argument("program function: " + std::to_string(program->inputs()) + " parameters wanted, " +
                                    std::to_string(params.size()) + " given");
}

std::shared_ptr<const void> bind(std::span<const double> params) { return published_program(params); }

FunctionValue evaluate_bound(const void* bound, std::span<const double> params, double x) {
    const auto& program = *static_cast<const CompiledProgram*>(bound);
    thread_local std::vector<double> scratch;  // grows to the largest program and stays
    const std::size_t inputs = params.size(), needed = inputs + program.work_size();
    if (scratch.size() < needed) scratch.resize(needed);
    scratch[0] = x;
    std::copy(params.begin() + 1, params.end(), scratch.begin() + 1);
    double out[3];
    program.evaluate(scratch.data(), out, scratch.data() + inputs);
    return {out[0], out[1], out[2]};
}

FunctionValue evaluate(std::span<const double> params, double x) {
    return evaluate_bound(published_program(params).get(), params, x);
}

const FunctionRegistration registration({"program", evaluate, nullptr, check, bind, evaluate_bound});

}  // namespace

PublishedProgram::PublishedProgram(std::shared_ptr<const CompiledProgram> program) {
    if (program->inputs() < 1 || program->outputs() != 3)
        throw std::invalid_argument("a function needs a program with inputs, and with value and two derivatives");
    Published& all = published();
    const std::lock_guard lock(all.mutex);
    number_ = all.next++;
    all.programs.emplace(number_, std::move(program));
}

PublishedProgram::~PublishedProgram() {
    std::shared_ptr<const CompiledProgram> released;  // let go after the lock
    Published& all = published();
    const std::lock_guard lock(all.mutex);
    const auto found = all.programs.find(number_);
    released = std::move(found->second);
    all.programs.erase(found);
}

}  // namespace bellcrank
