#include "model/model.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model/beam_forces.hpp"
#include "spatial/inertia.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

void require(bool ok, const char* array, size_t index, const char* rule) {
    if (!ok) throw std::invalid_argument(std::string(array) + "[" + std::to_string(index) + "]: " + rule);
}

// What `make` refuses is told with the entry of the array that it is made of.
template <class Make>
void named(const char* array, size_t index, const Make& make) {
    try {
        make();
    } catch (const std::invalid_argument& fault) {
        require(false, array, index, fault.what());
    }
}

void check_csr(const std::vector<int>& start, size_t count, size_t total, const char* array) {
    require(start.size() == count + 1 && start.front() == 0 && start.back() == static_cast<int>(total), array, 0,
            "must run from 0 to the number of entries");
    for (size_t i = 0; i < count; ++i) require(start[i] <= start[i + 1], array, i, "must not decrease");
}

void check_index(const std::vector<int>& values, int low, int high, const char* array) {
    for (size_t i = 0; i < values.size(); ++i)
        require(values[i] >= low && values[i] < high, array, i, "index out of range");
}

void check_size(size_t actual, size_t expected, const char* array) {
    require(actual == expected, array, actual, "wrong number of entries");
}

std::span<const double> slice(const std::vector<double>& values, const std::vector<int>& start, size_t i) {
    return std::span<const double>(values).subspan(start[i], start[i + 1] - start[i]);
}

void check(const ModelData& d) {
    const int bodies = static_cast<int>(d.body_mass.size()), pairs = static_cast<int>(d.pair_bodies.size() / 2);
    const int coordinates = static_cast<int>(d.coordinate_kind.size()),
              functions = static_cast<int>(d.function_kind.size());
    const size_t blocks = d.block_unilateral.size(), rows = d.row_constant.size(), wrenches = d.wrench_body.size();
    if (!d.block_friction.empty()) check_size(d.block_friction.size(), blocks, "block_friction");
    check_index(d.block_friction, -1, static_cast<int>(d.law_kind.size()), "block_friction");
    if (!d.law_friction.empty()) check_size(d.law_friction.size(), d.law_kind.size(), "law_friction");
    check_index(d.law_friction, 0, static_cast<int>(d.law_kind.size()), "law_friction");
    for (size_t i = 0; i < d.friction_loads.size(); ++i) {
        const ModelData::FrictionLoad& each = d.friction_loads[i];
        check_index({each.law}, 0, static_cast<int>(d.law_kind.size()), "friction_loads");
        check_index(each.wrap, 0, coordinates, "friction_loads");
        check_size(each.wrap_factor.size(), each.wrap.size(), "friction_loads");
        check_index({each.pair}, -1, pairs, "friction_loads");
        check_index(each.blocks, 0, static_cast<int>(blocks), "friction_loads");
        check_index(each.rows, 0, static_cast<int>(rows), "friction_loads");
        const size_t forms = each.form.size() / 6;
        require(each.form.size() % 6 == 0 && forms >= 1 && forms <= 3, "friction_loads", i, "one to three forms");
        require(each.rows.size() <= 6, "friction_loads", i, "of six rows at most");
        require(i == 0 || each.law >= d.friction_loads[i - 1].law, "friction_loads", i, "in the order of laws");
    }
    check_size(d.body_com.size(), bodies, "body_com");
    check_size(d.body_inertia.size(), bodies, "body_inertia");
    check_size(d.pair_positions.size(), 2 * pairs, "pair_positions");
    check_size(d.pair_rotations.size(), 2 * pairs, "pair_rotations");
    check_index(d.pair_bodies, 0, bodies + 1, "pair_bodies");
    check_size(d.coordinate_pair.size(), coordinates, "coordinate_pair");
    check_index(d.coordinate_pair, 0, pairs, "coordinate_pair");
    check_csr(d.coordinate_param_start, coordinates, d.coordinate_params.size(), "coordinate_param_start");
    check_csr(d.function_param_start, functions, d.function_params.size(), "function_param_start");
    check_csr(d.block_row_start, blocks, rows, "block_row_start");
    check_size(d.block_compliance.size(), blocks, "block_compliance");
    check_size(d.block_restitution.size(), blocks, "block_restitution");
    for (size_t i = 0; i < blocks; ++i) {
        const int count = d.block_row_start[i + 1] - d.block_row_start[i];
        require(count >= 1 && count <= 6, "block_row_start", i, "a block has 1 to 6 rows");
    }
    check_csr(d.row_term_start, rows, d.term_coordinate.size(), "row_term_start");
    check_size(d.term_coefficient.size(), d.term_coordinate.size(), "term_coefficient");
    check_index(d.term_coordinate, 0, coordinates, "term_coordinate");
    check_size(d.row_function.size(), rows, "row_function");
    check_index(d.row_function, -1, functions, "row_function");
    check_size(d.law_coordinate.size(), d.law_kind.size(), "law_coordinate");
    check_index(d.law_coordinate, 0, coordinates, "law_coordinate");
    check_size(d.law_function.size(), d.law_kind.size(), "law_function");
    check_index(d.law_function, -1, functions, "law_function");
    check_csr(d.law_param_start, d.law_kind.size(), d.law_params.size(), "law_param_start");
    check_index(d.wrench_body, 0, bodies, "wrench_body");
    check_size(d.wrench_position.size(), wrenches, "wrench_position");
    check_size(d.wrench_rotation.size(), wrenches, "wrench_rotation");
    check_size(d.wrench_local.size(), wrenches, "wrench_local");
    check_size(d.wrench_function.size(), 6 * wrenches, "wrench_function");
    check_index(d.wrench_function, -1, functions, "wrench_function");
    check_size(d.wrench_constant.size(), 6 * wrenches, "wrench_constant");
    const int params = static_cast<int>(d.function_params.size()), values = static_cast<int>(d.formulas.values.size());
    for (size_t i = 0; i < d.inputs.size(); ++i) {
        const ModelData::Input& input = d.inputs[i];
        check_index(input.function_params, 0, params, "inputs");
        require(input.formula_value >= -1 && input.formula_value < values, "inputs", i, "no such value of formulas");
        require(!input.function_params.empty() || input.formula_value >= 0, "inputs", i, "it stands nowhere");
    }
    for (size_t i = 0; i < d.input_offsets.size(); ++i) {
        const auto& [function, place] = d.input_offsets[i];
        require(function >= 0 && function < functions && place >= 0 && place < params, "input_offsets", i,
                "index out of range");
    }
}

// A coordinate's kind by name; those of joints given by formulas are no kinds of the registry.
const CoordinateKind& kind_named(const std::string& name) {
    for (const CoordinateKind* kind : {&kFormulaRow, &kFormulaCoordinate})
        if (name == kind->name) return *kind;
    return coordinate_kind(name);
}

void check_formula_coordinate(const Coordinate& c, const Formulas& formulas, size_t index) {
    const auto below = [](double number, int count) { return number >= 0.0 && number < count; };
    require(c.params.size() == 2 && below(c.params[0], static_cast<int>(formulas.joints.size())), "coordinate_params",
            index, "no such joint formula");
    const JointFormula& joint = formulas.joints[c.formula()];
    const int free = static_cast<int>(joint.coordinates.size()), count = c.kind == &kFormulaRow ? 6 - free : free;
    require(below(c.params[1], count), "coordinate_params", index, "not of this joint formula");
}

}  // namespace

Model::Model(ModelData data, const Programs& made) : data_(std::move(data)) {
    const ModelData& d = data_;
    check(d);
    gravity = d.gravity;
    mass = d.body_mass;
    com = d.body_com;
    for (size_t i = 0; i < mass.size(); ++i) {
        require(mass[i] > 0.0, "body_mass", i, "must be positive");
        const PrincipalInertia p = bellcrank::principal_inertia(d.body_inertia[i]);
        require(p.moments.x > 0.0 && p.moments.y > 0.0 && p.moments.z > 0.0, "body_inertia", i,
                "must be positive definite");
        principal_inertia.push_back(p.moments);
        principal_rotation.push_back(p.rotation);
    }
    if (!d.body_normal.empty()) check_size(d.body_normal.size(), mass.size() + 1, "body_normal");
    for (size_t i = 0; i < d.body_normal.size(); ++i)
        normal.push_back(i < mass.size() ? transpose_times(rotation_matrix(principal_rotation[i]), d.body_normal[i])
                                         : d.body_normal[i]);
    for (size_t i = 0; i < d.pair_bodies.size(); i += 2) {
        MarkerPair pair;
        for (int s = 0; s < 2; ++s) {
            pair.body[s] = d.pair_bodies[i + s];
            pair.offset[s] = principal_offset(pair.body[s], d.pair_positions[i + s]);
            pair.rotation[s] = in_principal(pair.body[s], d.pair_rotations[i + s]);
        }
        pairs.push_back(pair);
    }
    for (size_t i = 0; i < d.coordinate_kind.size(); ++i) {
        const Coordinate c{&kind_named(d.coordinate_kind[i]), d.coordinate_pair[i],
                           slice(d.coordinate_params, d.coordinate_param_start, i)};
        if (c.of_formula())
            check_formula_coordinate(c, d.formulas, i);
        else
            named("coordinate_kind", i, [&] { check_coordinate(*c.kind, c.params); });
        coordinates.push_back(c);
    }
    for (size_t i = 0; i < d.function_kind.size(); ++i)
        named("function_kind", i, [&] {
            functions.emplace_back(d.function_kind[i], slice(d.function_params, d.function_param_start, i),
                                   d.expression_of(static_cast<int>(i)));
        });
    for (size_t i = 0; i < d.block_unilateral.size(); ++i)
        blocks.push_back({d.block_row_start[i], d.block_row_start[i + 1], d.block_unilateral[i] != 0,
                          d.block_compliance[i], d.block_restitution[i]});
    for (size_t i = 0; i < d.block_friction.size(); ++i) {
        blocks[i].friction = d.block_friction[i];
        has_friction |= blocks[i].friction >= 0;
    }
    for (size_t i = 0; i < d.row_constant.size(); ++i)
        rows.push_back({d.row_term_start[i], d.row_term_start[i + 1], d.row_function[i], d.row_constant[i]});
    for (size_t i = 0; i < d.term_coordinate.size(); ++i)
        terms.push_back({d.term_coordinate[i], d.term_coefficient[i]});
    for (size_t i = 0; i < d.law_kind.size(); ++i) {
        const Law law{&law_kind(d.law_kind[i]), d.law_coordinate[i], d.law_function[i],
                      slice(d.law_params, d.law_param_start, i),
                      d.law_friction.empty() ? static_cast<int>(i) : d.law_friction[i]};
        named("law_kind", i,
              [&] { check_law(*law.kind, law.params, law.function < 0 ? nullptr : &functions[law.function]); });
        laws.push_back(law);
    }
    beams = std::make_shared<const BeamForces>(*this);
    for (const ModelData::FrictionLoad& each : d.friction_loads) {
        FrictionLoad load{each.law,     {each.blocks, each.pair},
                          each.rows,    static_cast<int>(each.form.size() / 6),
                          {},           each.slipping,
                          each.holding, {},
                          each.wrapped};
        std::ranges::copy(each.form, load.form);
        for (size_t k = 0; k < each.wrap.size(); ++k) load.wrap.push_back({each.wrap[k], each.wrap_factor[k]});
        friction_loads.push_back(std::move(load));
    }
    for (size_t i = 0; i < d.wrench_body.size(); ++i) {
        const int body = d.wrench_body[i];
        Wrench w{body,
                 principal_offset(body, d.wrench_position[i]),
                 in_principal(body, d.wrench_rotation[i]),
                 d.wrench_local[i] != 0,
                 {},
                 {}};
        for (int k = 0; k < 6; ++k) {
            w.function[k] = d.wrench_function[6 * i + k];
            w.constant[k] = d.wrench_constant[6 * i + k];
        }
        wrenches.push_back(w);
    }
    add_formulas(made);
    add_contacts();
}

double Model::input(int number) const {
    const ModelData::Input& input = data_.inputs[number];
    return input.formula_value < 0 ? data_.function_params[input.function_params[0]]
                                   : data_.formulas.values[input.formula_value];
}

void Model::set_inputs(double t, std::span<const double> values) {
    std::vector<double>& params = data_.function_params;
    for (const auto& [function, place] : data_.input_offsets) params[place] = functions[function](t).f;
    for (size_t i = 0; i < data_.inputs.size(); ++i) {
        const ModelData::Input& input = data_.inputs[i];
        for (const int place : input.function_params) params[place] = values[i];
        if (input.formula_value >= 0) data_.formulas.values[input.formula_value] = values[i];
    }
    for (const auto& [function, place] : data_.input_offsets) {
        const double reached = std::exchange(params[place], 0.0);
        params[place] = reached - functions[function](t).f;
    }
    for (FormulaJoint& joint : formula_joints) joint.joint.renew();
}

void Model::take_inputs(const Model& other) {
    std::ranges::copy(other.data_.function_params, data_.function_params.begin());
    std::ranges::copy(other.data_.formulas.values, data_.formulas.values.begin());
    for (FormulaJoint& joint : formula_joints) joint.joint.renew();
}

// A marker of a body frame, moved to the body's principal frame.
Vec3 Model::principal_offset(int body, const Vec3& p) const {
    if (body == ground()) return p;
    return transpose_times(rotation_matrix(principal_rotation[body]), p - com[body]);
}

Quat Model::in_principal(int body, const Quat& q) const {
    return body == ground() ? q : conjugate(principal_rotation[body]) * q;
}

void Model::add_formulas(const Programs& made) {
    const Formulas& f = data_.formulas;
    const auto compiled = [&](const auto& program, const auto& formula) {
        const size_t next = programs.size();
        return programs.emplace_back(next < made.size() ? made[next]
                                                        : std::make_shared<CompiledProgram>(program(f, formula)));
    };
    const auto ends = [&](const std::vector<MarkerSymbols>& markers, const std::vector<CoordinateSymbols>& symbols) {
        FormulaEnds out;
        for (const MarkerSymbols& m : markers) {
            if (m.body < 0 || m.body > ground()) throw std::invalid_argument("a formula's marker: no such body");
            out.markers.push_back({m.body, principal_offset(m.body, m.offset), in_principal(m.body, m.attitude)});
        }
        for (const CoordinateSymbols& c : symbols) {
            if (c.coordinate < 0 || c.coordinate >= static_cast<int>(coordinates.size()))
                throw std::invalid_argument("a formula's coordinate: no such coordinate");
            out.coordinates.push_back(c.coordinate);
        }
        out.parameters = f.values;
        return out;
    };
    if (f.parameters.size() != f.values.size()) throw std::invalid_argument("formulas: a value for each parameter");
    for (const JointFormula& joint : f.joints) {
        const int count = static_cast<int>(joint.coordinates.size());
        formula_joints.push_back({ParametricJoint(compiled(joint_program, joint), count, f.values),
                                  std::vector<int>(count, -1), joint.start});
    }
    for (size_t i = 0; i < coordinates.size(); ++i)
        if (coordinates[i].kind == &kFormulaCoordinate)
            formula_joints[coordinates[i].formula()].coordinate[coordinates[i].component()] = static_cast<int>(i);
    for (const ConstraintFormula& c : f.constraints)
        formula_rows.emplace_back(static_cast<int>(c.rows.size()), ends(c.markers, c.coordinates),
                                  compiled(constraint_program, c));
    formula_of_block = data_.block_formula;
    if (formula_of_block.empty()) formula_of_block.assign(blocks.size(), -1);
    check_size(formula_of_block.size(), blocks.size(), "block_formula");
    check_index(formula_of_block, -1, static_cast<int>(formula_rows.size()), "block_formula");
    for (size_t i = 0; i < blocks.size(); ++i)
        require(formula_of_block[i] < 0 ||
                    formula_rows[formula_of_block[i]].rows() == blocks[i].row_end - blocks[i].row_begin,
                "block_formula", i, "the block has another number of rows");
    for (size_t i = 0; i < blocks.size(); ++i)
        blocks[i].of_velocity = formula_of_block[i] >= 0 && f.constraints[formula_of_block[i]].of_velocity;
    for (const ForceFormula& force : f.forces)
        formula_forces.emplace_back(ends(force.markers, force.coordinates), force.has_potential,
                                    compiled(force_program, force));
}

int Model::block_of(int row) const {
    const auto after = std::ranges::partition_point(blocks, [row](const Block& b) { return b.row_end <= row; });
    return static_cast<int>(after - blocks.begin());
}

std::vector<int> Model::bodies_of(int block) const {
    std::vector<int> bodies;
    const auto add = [&](int body) {
        if (std::find(bodies.begin(), bodies.end(), body) == bodies.end()) bodies.push_back(body);
    };
    if (formula_of_block[block] >= 0) {
        const FormulaEnds& ends = formula_rows[formula_of_block[block]].ends();
        for (const FormulaMarker& m : ends.markers) add(m.body);
        for (const int c : ends.coordinates)
            for (const int body : pairs[coordinates[c].pair].body) add(body);
    }
    for (int r = blocks[block].row_begin; r < blocks[block].row_end; ++r)
        for (int t = rows[r].term_begin; t < rows[r].term_end; ++t)
            for (int body : pairs[coordinates[terms[t].coordinate].pair].body) add(body);
    return bodies;
}

}  // namespace bellcrank
