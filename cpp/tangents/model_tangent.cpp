#include "tangents/model_tangent.hpp"

#include <algorithm>
#include <stdexcept>

namespace bellcrank {

namespace {

constexpr std::pair<NumberArray, const char*> kNames[] = {
    {NumberArray::gravity, "gravity"},
    {NumberArray::body_mass, "body_mass"},
    {NumberArray::body_com, "body_com"},
    {NumberArray::body_inertia, "body_inertia"},
    {NumberArray::pair_positions, "pair_positions"},
    {NumberArray::pair_rotations, "pair_rotations"},
    {NumberArray::coordinate_params, "coordinate_params"},
    {NumberArray::function_params, "function_params"},
    {NumberArray::block_compliance, "block_compliance"},
    {NumberArray::row_constant, "row_constant"},
    {NumberArray::term_coefficient, "term_coefficient"},
    {NumberArray::law_params, "law_params"},
    {NumberArray::wrench_position, "wrench_position"},
    {NumberArray::wrench_rotation, "wrench_rotation"},
    {NumberArray::wrench_constant, "wrench_constant"},
    {NumberArray::formula_marker_positions, "formula_marker_positions"},
    {NumberArray::formula_marker_rotations, "formula_marker_rotations"},
    {NumberArray::formula_values, "formula_values"},
};

template <class V>
std::span<const double> doubles(const std::vector<V>& list) {
    static_assert(sizeof(V) % sizeof(double) == 0);
    return {reinterpret_cast<const double*>(list.data()), list.size() * (sizeof(V) / sizeof(double))};
}

// Markers of formulas with the bodies that they are on, rows first.
template <class Use>
void for_each_marker(const ModelData& data, const Use& use) {
    for (const ConstraintFormula& f : data.formulas.constraints)
        for (const MarkerSymbols& m : f.markers) use(m);
    for (const ForceFormula& f : data.formulas.forces)
        for (const MarkerSymbols& m : f.markers) use(m);
}

template <class S>
void fill(const Model& model, NumberArrays<S>& out) {
    const ModelData& d = model.data();
    const auto take = [&](NumberArray array, std::span<const double> from) {
        out[array].assign(from.begin(), from.end());
    };
    take(NumberArray::gravity, std::span(&d.gravity.x, 3));
    take(NumberArray::body_mass, d.body_mass);
    take(NumberArray::body_com, doubles(d.body_com));
    take(NumberArray::body_inertia, doubles(d.body_inertia));
    take(NumberArray::pair_positions, doubles(d.pair_positions));
    take(NumberArray::pair_rotations, doubles(d.pair_rotations));
    take(NumberArray::coordinate_params, d.coordinate_params);
    take(NumberArray::function_params, d.function_params);
    take(NumberArray::block_compliance, d.block_compliance);
    take(NumberArray::row_constant, d.row_constant);
    take(NumberArray::term_coefficient, d.term_coefficient);
    take(NumberArray::law_params, d.law_params);
    take(NumberArray::wrench_position, doubles(d.wrench_position));
    take(NumberArray::wrench_rotation, doubles(d.wrench_rotation));
    take(NumberArray::wrench_constant, d.wrench_constant);
    take(NumberArray::formula_values, d.formulas.values);
    out[NumberArray::formula_marker_positions].clear();
    out[NumberArray::formula_marker_rotations].clear();
    for_each_marker(d, [&](const MarkerSymbols& m) {
        for (const double p : {m.offset.x, m.offset.y, m.offset.z})
            out[NumberArray::formula_marker_positions].push_back(p);
        for (const double q : {m.attitude.w, m.attitude.x, m.attitude.y, m.attitude.z})
            out[NumberArray::formula_marker_rotations].push_back(q);
    });
}

QuatT<Dual4> in_duals(const Quat& q) { return {q.w, q.x, q.y, q.z}; }

QuatT<Dual4> of_unit_length(const QuatT<Dual4>& q) {
    const Dual4 part = 1.0 / sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return {part * q.w, part * q.x, part * q.y, part * q.z};
}

}  // namespace

NumberPlace number_place(const Model& model, const std::string& array, int index) {
    for (const auto& [which, name] : kNames)
        if (array == name) {
            NumberArrays<double> numbers;
            fill(model, numbers);
            if (index >= 0 && index < static_cast<int>(numbers[which].size())) return {which, index};
            throw std::invalid_argument(array + ": no number " + std::to_string(index));
        }
    throw std::invalid_argument("'" + array + "' has no derivatives");
}

ModelTangent::ModelTangent(const Model& model)
    : model_(model), rows_(static_cast<int>(model.data().formulas.constraints.size())), first_marker_{0} {
    const auto note = [&](const std::vector<MarkerSymbols>& markers) {
        for (const MarkerSymbols& m : markers) marker_body_.push_back(m.body);
        first_marker_.push_back(static_cast<int>(marker_body_.size()));
    };
    for (const ConstraintFormula& f : model.data().formulas.constraints) note(f.markers);
    for (const ForceFormula& f : model.data().formulas.forces) note(f.markers);
    renew();
}

void ModelTangent::renew() {
    fill(model_, numbers_);
    is_constant_ = true;
    derive();
}

void ModelTangent::change(std::span<const Change> changes) {
    for (const Change& c : changes)
        for (int k = 0; k < kDirections; ++k) {
            numbers_[c.place.array][c.place.index].d[k] += c.along[k];
            is_constant_ = is_constant_ && c.along[k] == 0.0;
        }
    derive();
}

// In principal axes of the model Q: offsets Qᵀ(p − c), attitudes Q⁻¹ q, inertias Qᵀ I Q.
void ModelTangent::derive() {
    const std::vector<Dual4>&coms = numbers_[NumberArray::body_com], &inertias = numbers_[NumberArray::body_inertia];
    bodies_.resize(model_.bodies());
    for (int b = 0; b < model_.bodies(); ++b) {
        const Mat3 Q = rotation_matrix(model_.principal_rotation[b]);
        Vec3T<Dual4> moved = load(&coms[3 * b]);
        moved = transpose_times(Q, moved - Vec3T<Dual4>{model_.com[b].x, model_.com[b].y, model_.com[b].z});
        Mat3T<Dual4> turning, inner;
        std::copy_n(&inertias[9 * b], 9, turning.m);
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                Dual4 sum = 0.0;
                for (int k = 0; k < 3; ++k)
                    for (int l = 0; l < 3; ++l)
                        sum += Q.m[3 * k + i] * Q.m[3 * l + j] * 0.5 * (turning.m[3 * k + l] + turning.m[3 * l + k]);
                inner.m[3 * i + j] = sum;
            }
        bodies_[b] = {numbers_[NumberArray::body_mass][b], moved, inner};
    }
    pairs_.resize(model_.pairs.size());
    for (size_t p = 0; p < pairs_.size(); ++p)
        for (int s = 0; s < 2; ++s) {
            const int body = model_.pairs[p].body[s];
            const Marker m = in_principal(body, NumberArray::pair_positions, NumberArray::pair_rotations,
                                          2 * static_cast<int>(p) + s);
            pairs_[p].body[s] = body;
            pairs_[p].offset[s] = m.offset;
            pairs_[p].rotation[s] = m.rotation;
        }
    wrenches_.clear();
    for (size_t w = 0; w < model_.wrenches.size(); ++w)
        wrenches_.push_back(in_principal(model_.wrenches[w].body, NumberArray::wrench_position,
                                         NumberArray::wrench_rotation, static_cast<int>(w)));
    markers_.clear();
    for (size_t m = 0; m < marker_body_.size(); ++m)
        markers_.push_back(in_principal(marker_body_[m], NumberArray::formula_marker_positions,
                                        NumberArray::formula_marker_rotations, static_cast<int>(m)));
}

ModelTangent::Marker ModelTangent::in_principal(int body, NumberArray positions, NumberArray rotations,
                                                int marker) const {
    const Vec3T<Dual4> position = load(&numbers_[positions][3 * marker]);
    const QuatT<Dual4> rotation = of_unit_length(load_quaternion(&numbers_[rotations][4 * marker]));
    if (body == model_.ground()) return {position, rotation};
    const Vec3T<Dual4> com = load(&numbers_[NumberArray::body_com][3 * body]);
    const Quat Q = model_.principal_rotation[body];
    return {transpose_times(rotation_matrix(Q), position - com), in_duals(conjugate(Q)) * rotation};
}

ModelGradient::ModelGradient(const Model& model) : model_(model) {
    fill(model, values_);
    gradient_ = values_;
    clear();
}

void ModelGradient::clear() {
    for (std::vector<double>& array : gradient_.list) std::fill(array.begin(), array.end(), 0.0);
}

// The transpose of ModelTangent::derive().
void ModelGradient::add_body(int body, double mass, const Vec3& com, const Mat3& inertia) {
    const Mat3 Q = rotation_matrix(model_.principal_rotation[body]);
    gradient_[NumberArray::body_mass][body] += mass;
    add(&gradient_[NumberArray::body_com][3 * body], Q * com);
    const Mat3 outer = Q * inertia * transpose(Q);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            gradient_[NumberArray::body_inertia][9 * body + 3 * i + j] +=
                0.5 * (outer.m[3 * i + j] + outer.m[3 * j + i]);
}

// A change of a quaternion turns the marker by 2 vec(δq q*).
void ModelGradient::add_marker(int body, NumberArray positions, NumberArray rotations, int marker, const Vec3& offset,
                               const Vec3& turn) {
    Vec3 position = offset, rotation = turn;
    if (body != model_.ground()) {
        const Mat3 Q = rotation_matrix(model_.principal_rotation[body]);
        position = Q * offset;
        rotation = Q * turn;
        add(&gradient_[NumberArray::body_com][3 * body], -position);
    }
    add(&gradient_[positions][3 * marker], position);
    const Quat inverse = conjugate(load_quaternion(&values_[rotations][4 * marker]));
    for (int k = 0; k < 4; ++k) {
        const Quat unit{k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0, k == 3 ? 1.0 : 0.0};
        const Quat change = unit * inverse;
        gradient_[rotations][4 * marker + k] += 2.0 * dot(rotation, Vec3{change.x, change.y, change.z});
    }
}

}  // namespace bellcrank
