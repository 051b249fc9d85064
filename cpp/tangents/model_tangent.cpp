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
    {NumberArray::block_restitution, "block_restitution"},
    {NumberArray::row_constant, "row_constant"},
    {NumberArray::term_coefficient, "term_coefficient"},
    {NumberArray::law_params, "law_params"},
    {NumberArray::wrench_position, "wrench_position"},
    {NumberArray::wrench_rotation, "wrench_rotation"},
    {NumberArray::wrench_constant, "wrench_constant"},
    {NumberArray::formula_marker_positions, "formula_marker_positions"},
    {NumberArray::formula_marker_rotations, "formula_marker_rotations"},
    {NumberArray::formula_values, "formula_values"},
    {NumberArray::contact_laws, "contact_laws"},
};

template <class V>
std::span<const double> doubles(const std::vector<V>& list) {
    static_assert(sizeof(V) % sizeof(double) == 0);
    return {reinterpret_cast<const double*>(list.data()), list.size() * (sizeof(V) / sizeof(double))};
}

// Markers of formulas, those of rows first.
template <class Use>
void for_each_marker(const ModelData& data, const Use& use) {
    for (const ConstraintFormula& f : data.formulas.constraints)
        for (const MarkerSymbols& m : f.markers) use(m);
    for (const ForceFormula& f : data.formulas.forces)
        for (const MarkerSymbols& m : f.markers) use(m);
}

// Calls `use` with each array that lies in ModelData as one.
template <class Use>
void for_each_array(const ModelData& d, const Use& use) {
    use(NumberArray::gravity, std::span(&d.gravity.x, 3));
    use(NumberArray::body_mass, doubles(d.body_mass));
    use(NumberArray::body_com, doubles(d.body_com));
    use(NumberArray::body_inertia, doubles(d.body_inertia));
    use(NumberArray::pair_positions, doubles(d.pair_positions));
    use(NumberArray::pair_rotations, doubles(d.pair_rotations));
    use(NumberArray::coordinate_params, doubles(d.coordinate_params));
    use(NumberArray::function_params, doubles(d.function_params));
    use(NumberArray::block_compliance, doubles(d.block_compliance));
    use(NumberArray::block_restitution, doubles(d.block_restitution));
    use(NumberArray::row_constant, doubles(d.row_constant));
    use(NumberArray::term_coefficient, doubles(d.term_coefficient));
    use(NumberArray::law_params, doubles(d.law_params));
    use(NumberArray::wrench_position, doubles(d.wrench_position));
    use(NumberArray::wrench_rotation, doubles(d.wrench_rotation));
    use(NumberArray::wrench_constant, doubles(d.wrench_constant));
    use(NumberArray::formula_values, doubles(d.formulas.values));
}

template <class S>
void fill(const Model& model, NumberArrays<S>& out) {
    for_each_array(model.data(), [&](NumberArray array, std::span<const double> from) {
        out[array].assign(from.begin(), from.end());
    });
    std::vector<S>& laws = out[NumberArray::contact_laws];
    laws.clear();
    for (const ContactGroup& group : model.contacts.groups) {
        const auto* first = reinterpret_cast<const double*>(&group.law);
        laws.insert(laws.end(), first, first + kContactNumbers);
    }
    std::vector<S>&positions = out[NumberArray::formula_marker_positions],
    &rotations = out[NumberArray::formula_marker_rotations];
    positions.clear();
    rotations.clear();
    for_each_marker(model.data(), [&](const MarkerSymbols& m) {
        positions.insert(positions.end(), {m.offset.x, m.offset.y, m.offset.z});
        rotations.insert(rotations.end(), {m.attitude.w, m.attitude.x, m.attitude.y, m.attitude.z});
    });
}

size_t size_of(const Model& model, NumberArray array) {
    size_t size = 0, markers = 0;
    for_each_array(model.data(), [&](NumberArray one, std::span<const double> numbers) {
        if (one == array) size = numbers.size();
    });
    for_each_marker(model.data(), [&](const MarkerSymbols&) { ++markers; });
    if (array == NumberArray::contact_laws) return kContactNumbers * model.contacts.groups.size();
    if (array == NumberArray::formula_marker_positions) return 3 * markers;
    return array == NumberArray::formula_marker_rotations ? 4 * markers : size;
}

// Whether what is said in principal axes depends on an array.
bool is_derived_from(NumberArray array) {
    switch (array) {
        case NumberArray::body_mass:
        case NumberArray::body_com:
        case NumberArray::body_inertia:
        case NumberArray::pair_positions:
        case NumberArray::pair_rotations:
        case NumberArray::wrench_position:
        case NumberArray::wrench_rotation:
        case NumberArray::formula_marker_positions:
        case NumberArray::formula_marker_rotations:
            return true;
        default:
            return false;
    }
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
            if (index >= 0 && index < static_cast<int>(size_of(model, which))) return {which, index};
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
    changed_.clear();
    moves_points_ = false;
    derive();
}

void ModelTangent::change(std::span<const Change> changes) {
    const bool moved = moves_points_;
    for (const NumberPlace& place : changed_) numbers_[place.array][place.index].d = Four{};
    changed_.clear();
    moves_points_ = false;
    for (const Change& c : changes) {
        for (int k = 0; k < kDirections; ++k) numbers_[c.place.array][c.place.index].d[k] += c.along[k];
        changed_.push_back(c.place);
        moves_points_ = moves_points_ || is_derived_from(c.place.array);
    }
    if (moved || moves_points_) derive();
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
