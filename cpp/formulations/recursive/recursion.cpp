#include "formulations/recursive/recursion.hpp"

#include <algorithm>
#include <cmath>

#include "spatial/double_double.hpp"

namespace bellcrank::recursive {

namespace {

Articulated rigid(const Link& link) {
    const Vec3& h = link.moment;
    Articulated I;
    std::copy(link.second.begin(), link.second.end(), I.A.m);
    I.B = {{0, -h.z, h.y, h.z, 0, -h.x, -h.y, h.x, 0}};
    I.C = {{link.mass, link.mass, link.mass, 0, 0, 0}};
    return I;
}

// Of a row's entry to what it would be for free bodies, at a regular configuration.
constexpr double kLeastSize = 1e-3;

// x ← (±|x|, 0, ...), leaving v with x − 2 v vᵀ x / vᵀv in v; returns 2 / vᵀv (A. Householder).
double make_reflector(double* x, int n, double* v) {
    double square = 0.0;
    for (int i = 0; i < n; ++i) square += x[i] * x[i];
    const double length = std::sqrt(square);
    if (length == 0.0) return 0.0;
    std::copy_n(x, n, v);
    std::fill_n(x, n, 0.0);
    x[0] = v[0] > 0.0 ? -length : length;
    v[0] -= x[0];
    return 1.0 / (length * std::abs(v[0]));
}

void apply_reflector(const double* v, double factor, int n, double* x) {
    double along = 0.0;
    for (int i = 0; i < n; ++i) along += v[i] * x[i];
    along *= factor;
    for (int i = 0; i < n; ++i) x[i] -= along * v[i];
}

constexpr int kMostPasses = 8;
constexpr double kExact = 1e-15;  // of the largest change

using Exact = DoubleDouble;
using ExactVec = Vec3T<Exact>;

ExactVec exact(const Vec3& v) { return {v.x, v.y, v.z}; }
MotionT<Exact> exact(const Twist& m) { return {exact(m.w), exact(m.v)}; }
ForceT<Exact> exact(const Load& f) { return {exact(f.n), exact(f.f)}; }
Mat3T<Exact> exact(const Mat3& a) {
    Mat3T<Exact> out;
    for (int i = 0; i < 9; ++i) out.m[i] = a.m[i];
    return out;
}

// The inertia of the link alone times an acceleration:  n = J ω̇ + h × a,  f = m a − h × ω̇.
ForceT<Exact> inertial(const Link& link, const MotionT<Exact>& a) {
    const SymmetricT<Exact> J{
        {link.second[0], link.second[1], link.second[2], link.second[3], link.second[4], link.second[5]}};
    const ExactVec h = exact(link.moment);
    return {J * a.w + cross(h, a.v), Exact(link.mass) * a.v - cross(h, a.w)};
}

template <class S>
MotionT<S> times(const Twist& m, const S& s) {
    return {{m.w.x * s, m.w.y * s, m.w.z * s}, {m.v.x * s, m.v.y * s, m.v.z * s}};
}
template <class S>
ForceT<S> times(const Load& f, const S& s) {
    return {{f.n.x * s, f.n.y * s, f.n.z * s}, {f.f.x * s, f.f.y * s, f.f.z * s}};
}

template <class S>
ForceT<S> product(const Articulated& I, const MotionT<S>& a) {
    return {I.A * a.w + I.B * a.v, transpose_times(I.B, a.w) + I.C * a.v};
}

double largest(const std::vector<double>& values) {
    double most = 0.0;
    for (const double v : values) most = std::max(most, std::abs(v));
    return most;
}

}  // namespace

Recursion::Recursion(const LinkTree& tree, int rows, std::vector<RowEnd> ends)
    : tree_(tree), rows_(rows), ends_(std::move(ends)), nodes_(tree.links.size() + 1) {
    std::stable_sort(ends_.begin(), ends_.end(), [](const RowEnd& a, const RowEnd& b) { return a.link < b.link; });
    build_slots();
    build_storage();
    inertia_.resize(tree.links.size());
    for (auto* loads : {&columns_, &half_columns_}) loads->assign(slot_row_.size(), kNothing);
    U_.assign(tree.speeds, kNothing);
    for (auto* v : {&scale_, &size_, &largest_}) v->assign(rows, 0.0);
    dropped_.assign(rows, 0);
    order_.assign(slot_row_.size(), 0);
    kept_.assign(nodes_.size(), 0);
    whole_.resize(tree.links.size());
    motions_.resize(tree.links.size());
    forces_.resize(tree.links.size());
    nothing_.assign(tree.links.size(), kNothing);
    gap_.resize(rows);
    for (auto* v : {&lack_, &more_}) v->assign(tree.speeds, 0.0);
    for (auto* v : {&gaps_, &more_lambda_, &compliance_}) v->assign(rows, 0.0);
}

// A link passes on no more rows of W than twice the columns that it passes on.
void Recursion::build_storage() {
    const size_t n = tree_.links.size();
    int roots = 0, effort = 0, factor = 0, half = 0, highest = 0;
    std::vector<int> arriving(n + 1, 0);
    const auto build = [&](size_t i) {
        Node& node = nodes_[i];
        const int size = node.open + node.closed, speeds = i < n ? tree_.links[i].speeds : 0;
        node.height = arriving[i] + node.closed + speeds;
        node.roots = roots, node.effort = effort, node.factor = factor, node.half = half;
        roots += node.height * size;
        effort += speeds * speeds;
        factor += node.closed * node.closed;
        half += node.closed * node.open;
        highest = std::max(highest, node.height);
        if (i < n && node.open > 0) arriving[parent_node(static_cast<int>(i))] += std::min(node.height, 2 * node.open);
    };
    for (size_t i = n; i-- > 0;) build(i);
    build(n);
    roots_.assign(roots, 0.0);
    whitening_.assign(effort, 0.0);
    factor_.assign(factor, 0.0);
    half_.assign(half, 0.0);
    reflector_.assign(highest, 0.0);
}

int Recursion::parent_node(int link) const {
    const int parent = tree_.links[link].parent;
    return parent < 0 ? static_cast<int>(tree_.links.size()) : parent;
}

// A row is open at every link between one of its ends and the link where all of them meet.
void Recursion::build_slots() {
    const int ground = static_cast<int>(tree_.links.size());
    std::vector<std::vector<int>> links(rows_);
    for (const RowEnd& end : ends_) links[end.row].push_back(end.link);
    std::vector<std::vector<int>> open(ground + 1), closed(ground + 1);
    std::vector<int> seen(ground + 1, -1);
    for (int r = 0; r < rows_; ++r) {
        // Numbers are preorder, so that the largest of the links reached cannot lie above the others.
        std::vector<int> front = links[r];
        std::sort(front.begin(), front.end());
        front.erase(std::unique(front.begin(), front.end()), front.end());
        if (front.empty()) front.push_back(ground);
        while (front.size() > 1 || front.back() < 0) {
            if (front.back() < 0) {
                front.back() = ground;
                break;
            }
            const int link = front.back();
            front.pop_back();
            open[link].push_back(r);
            const int above = tree_.links[link].parent;
            const auto at = std::lower_bound(front.begin(), front.end(), above);
            if (at == front.end() || *at != above) front.insert(at, above);
        }
        closed[front.back()].push_back(r);
    }
    for (int i = 0; i <= ground; ++i) {
        Node& node = nodes_[i];
        node.slot = static_cast<int>(slot_row_.size());
        node.open = static_cast<int>(open[i].size());
        node.closed = static_cast<int>(closed[i].size());
        for (const auto* list : {&open[i], &closed[i]}) slot_row_.insert(slot_row_.end(), list->begin(), list->end());
    }
    // Rows ascend among the open ones of a node and among its closed ones.
    const auto slot_at = [&](const Node& node, int row) {
        const auto begin = slot_row_.begin() + node.slot, middle = begin + node.open, end = middle + node.closed;
        auto found = std::lower_bound(begin, middle, row);
        if (found == middle || *found != row) found = std::lower_bound(middle, end, row);
        return static_cast<int>(found - slot_row_.begin());
    };
    slot_above_.assign(slot_row_.size(), -1);
    for (int i = 0; i < ground; ++i)
        for (int s = nodes_[i].slot; s < nodes_[i].slot + nodes_[i].open; ++s)
            slot_above_[s] = slot_at(nodes_[parent_node(i)], slot_row_[s]);
    for (const RowEnd& end : ends_) end_slot_.push_back(end.link < 0 ? -1 : slot_at(nodes_[end.link], end.row));
}

void Recursion::factor(const TreeState& k, const double* compliance, const double* natural, double tolerance) {
    const int n = static_cast<int>(tree_.links.size());
    for (int i = 0; i < n; ++i) inertia_[i] = rigid(tree_.links[i]);
    std::fill(columns_.begin(), columns_.end(), kNothing);
    for (Node& node : nodes_) node.used = 0;
    std::copy_n(compliance, rows_, size_.begin());
    std::copy_n(compliance, rows_, compliance_.begin());
    std::fill(whole_.begin(), whole_.end(), Size{});
    doubtful_ = false;
    std::fill(dropped_.begin(), dropped_.end(), 0);
    smallest_ = 1.0;
    largest_dropped_ = 0.0;
    for (size_t e = 0; e < ends_.size(); ++e)
        if (end_slot_[e] >= 0) columns_[end_slot_[e]] += -1.0 * ends_[e].load;
    for (int i = n - 1; i >= 0; --i) {
        const Node& node = nodes_[i];
        if (node.closed > 0) close_rows(i, compliance, natural, tolerance);
        reduce(k, i);
    }
    if (nodes_[n].closed > 0) close_rows(n, compliance, natural, tolerance);
}

// Eliminates the acceleration along the joint and takes what the link asks of it to the parent's frame: (2) and (3) of
// docs/theory/recursive.md.
void Recursion::reduce(const TreeState& k, int i) {
    const Link& link = tree_.links[i];
    const Node& node = nodes_[i];
    Articulated I = inertia_[i];
    if (link.given < 0) {
        for (int a = 0; a < link.speeds; ++a) U_[link.u + a] = inertia_[i] * k.S[link.u + a];
        double* white = whitening_.data() + node.effort;
        for (int a = 0; a < link.speeds; ++a)
            for (int b = 0; b <= a; ++b) white[link.speeds * b + a] = dot(k.S[link.u + a], U_[link.u + b]);
        for (int a = 0; a < link.speeds; ++a) white[(link.speeds + 1) * a] += link.rotor[a];
        whiten(white, link.speeds);
        for (int a = 0; a < link.speeds; ++a) {
            Load V = white[a] * U_[link.u];
            for (int b = 1; b <= a; ++b) V += white[link.speeds * b + a] * U_[link.u + b];
            I.add_dyad(-1.0, V, V);
        }
        if (link.speeds == 6) I = {};  // nothing passes a joint that holds nothing
    }
    judge(k, i);
    if (node.open > 0) pass_columns(k, i);
    if (link.parent < 0) return;
    I = {rotated(k.rotation[i], I.A), rotated(k.rotation[i], I.B), rotated(k.rotation[i], I.C)};
    shift(k.shift[i], I);
    inertia_[link.parent] += I;
}

// Compares what was left along the joint with what had been there, here or at what hangs on it.
void Recursion::judge(const TreeState& k, int i) {
    const Link& link = tree_.links[i];
    const double *A = inertia_[i].A.m, *C = inertia_[i].C.m;
    Size& whole = whole_[i];
    whole.turning = std::max(whole.turning, A[0] + A[1] + A[2]);
    whole.mass = std::max(whole.mass, C[0] + C[1] + C[2]);
    const double* white = whitening_.data() + nodes_[i].effort;
    for (int c = 0; c < link.speeds && link.given < 0; ++c) {
        const Twist& S = k.S[link.u + c];
        const double was = dot(S.w, S.w) * whole.turning + dot(S.v, S.v) * whole.mass;
        const double by_pivot = white[link.speeds * c + c] * white[link.speeds * c + c];
        if (kLittleInertia * was * by_pivot > 1.0) doubtful_ = true;
    }
    if (link.parent < 0) return;
    Size& above = whole_[link.parent];
    above.turning = std::max({above.turning, whole.turning, whole.mass * dot(k.shift[i], k.shift[i])});
    above.mass = std::max(above.mass, whole.mass);
}

// Takes the joint's freedoms out of the open columns, and adds their rows to W.
void Recursion::pass_columns(const TreeState& k, int i) {
    const Link& link = tree_.links[i];
    Node& node = nodes_[i];
    const int d = link.given < 0 ? link.speeds : 0;
    const double* white = whitening_.data() + node.effort;
    for (int s = 0; s < node.open; ++s) {
        Load P = columns_[node.slot + s];
        double* W = roots_.data() + node.roots + node.height * s + node.used;
        double along[6], weight[6] = {};
        for (int a = 0; a < d; ++a) along[a] = dot(k.S[link.u + a], P);
        for (int a = 0; a < d; ++a) {
            W[a] = 0.0;
            for (int b = 0; b <= a; ++b) W[a] += white[d * b + a] * along[b];
            for (int b = 0; b <= a; ++b) weight[b] += white[d * b + a] * W[a];
            size_[slot_row_[node.slot + s]] += W[a] * W[a];
        }
        for (int a = 0; a < d; ++a) P += -weight[a] * U_[link.u + a];
        if (link.parent >= 0) columns_[slot_above_[node.slot + s]] += outward(k.rotation[i], k.shift[i], P);
    }
    node.used += d;
    pass_roots(i);
}

template <>
Recursion::Flow<double>& Recursion::flow<double>() {
    return one_;
}
template <>
Recursion::Flow<Four>& Recursion::flow<Four>() {
    return four_;
}

// Uses what factor() made: loads go up by (3), accelerations and multipliers down by (1).
template <class S>
void Recursion::find(const TreeState& k, const InputT<S>& in, S* udot, S* lambda) {
    Flow<S>& f = flow<S>();
    if (f.p.size() != tree_.links.size()) {
        f.p.resize(tree_.links.size());
        f.a.resize(tree_.links.size());
        f.z.resize(tree_.speeds);
        f.g.resize(slot_row_.size());
        f.y.resize(slot_row_.size());
    }
    up(k, in);
    down(k, in, udot, lambda);
}

template <class S>
void Recursion::up(const TreeState& k, const InputT<S>& in) {
    const int n = static_cast<int>(tree_.links.size());
    Flow<S>& f = flow<S>();
    for (int i = 0; i < n; ++i) f.p[i] = {-in.loads[i].n, -in.loads[i].f};
    std::fill(f.g.begin(), f.g.end(), S{});
    for (int i = n - 1; i >= 0; --i) {
        const Link& link = tree_.links[i];
        const Node& node = nodes_[i];
        if (node.closed > 0) close_up(i, in.targets);
        MotionT<S> a = in.bias == nullptr ? MotionT<S>{} : in.bias[i];  // at rest of the parent, without multipliers
        along_joint(k, i, in, f.p[i], a);
        for (int c = 0; c < link.speeds; ++c) a += times(k.S[link.u + c], f.z[link.u + c]);
        for (int s = node.slot; s < node.slot + node.open; ++s) f.g[slot_above_[s]] += f.g[s] - dot(a, columns_[s]);
        if (link.parent < 0) continue;
        ForceT<S> p = product(inertia_[i], a);
        p += f.p[i];
        f.p[link.parent] += outward(k.rotation[i], k.shift[i], p);
    }
    if (nodes_[n].closed > 0) close_up(n, in.targets);
}

// z: what the joint's speeds change by where the link would accelerate at a without them and asks for I a + p.
template <class S>
void Recursion::along_joint(const TreeState& k, int i, const InputT<S>& in, const ForceT<S>& p, const MotionT<S>& a) {
    const Link& link = tree_.links[i];
    S* z = flow<S>().z.data() + link.u;
    if (link.given >= 0) {
        z[0] = in.given == nullptr ? S{} : in.given[link.given];
        return;
    }
    ForceT<S> asked = product(inertia_[i], a);
    asked += p;
    S u[6];
    for (int c = 0; c < link.speeds; ++c)
        u[c] = (in.efforts == nullptr ? S{} : in.efforts[link.u + c]) - dot(k.S[link.u + c], asked);
    const double* white = whitening_.data() + nodes_[i].effort;
    for (int c = 0; c < link.speeds; ++c) z[c] = S{};
    for (int c = 0; c < link.speeds; ++c) {
        S along{};
        for (int d = 0; d <= c; ++d) along += white[link.speeds * d + c] * u[d];
        for (int d = 0; d <= c; ++d) z[d] += white[link.speeds * d + c] * along;
    }
}

template <class S>
void Recursion::down(const TreeState& k, const InputT<S>& in, S* udot, S* lambda) {
    const int n = static_cast<int>(tree_.links.size());
    Flow<S>& f = flow<S>();
    if (nodes_[n].closed > 0) close_down(n, MotionT<S>{}, lambda);
    for (int i = 0; i < n; ++i) {
        const Link& link = tree_.links[i];
        const Node& node = nodes_[i];
        MotionT<S> a = in.bias == nullptr ? MotionT<S>{} : in.bias[i];
        if (link.parent >= 0) a += inward(k.rotation[i], k.shift[i], f.a[link.parent]);
        ForceT<S> p = f.p[i];
        for (int s = node.slot; s < node.slot + node.open; ++s) p += times(columns_[s], lambda[slot_row_[s]]);
        along_joint(k, i, in, p, a);
        for (int c = 0; c < link.speeds; ++c) {
            udot[link.u + c] = f.z[link.u + c];
            a += times(k.S[link.u + c], f.z[link.u + c]);
        }
        f.a[i] = a;
        if (node.closed > 0) close_down(i, a, lambda);
    }
}

template void Recursion::find<double>(const TreeState&, const InputT<double>&, double*, double*);
template void Recursion::find<Four>(const TreeState&, const InputT<Four>&, Four*, Four*);

void Recursion::accelerations(const TreeState& k, const Twist* bias, const double* udot,
                              std::vector<Twist>& out) const {
    for (size_t i = 0; i < tree_.links.size(); ++i) {
        const Link& link = tree_.links[i];
        Twist a = bias == nullptr ? kRest : bias[i];
        if (link.parent >= 0) a += inward(k.rotation[i], k.shift[i], out[link.parent]);
        for (int c = 0; c < link.speeds; ++c) a += udot[link.u + c] * k.S[link.u + c];
        out[i] = a;
    }
}

void Recursion::forget_sizes() { std::fill(largest_.begin(), largest_.end(), 0.0); }

// Rows of W as they are at the parent: nothing in the columns that it knows from elsewhere.
void Recursion::pass_roots(int i) {
    Node &node = nodes_[i], &above = nodes_[parent_node(i)];
    if (node.used > 2 * node.open) compress(i);
    for (int c = 0; c < above.open + above.closed; ++c)
        std::fill_n(roots_.data() + above.roots + above.height * c + above.used, node.used, 0.0);
    for (int s = 0; s < node.open; ++s) {
        const int column = slot_above_[node.slot + s] - above.slot;
        std::copy_n(roots_.data() + node.roots + node.height * s, node.used,
                    roots_.data() + above.roots + above.height * column + above.used);
    }
    above.used += node.used;
}

// Replaces the open columns of W by their triangular factor, which has the same products.
void Recursion::compress(int i) {
    Node& node = nodes_[i];
    double* W = roots_.data() + node.roots;
    for (int s = 0; s < node.open; ++s) {
        const int n = node.used - s;
        const double factor = make_reflector(W + node.height * s + s, n, reflector_.data());
        for (int c = s + 1; c < node.open; ++c) apply_reflector(reflector_.data(), factor, n, W + node.height * c + s);
    }
    node.used = node.open;
}

// A compliance is a row of W of its own. In coordinates of joints a row may vanish where a loop is singular, instead
// of coming to depend on others: its pivot is therefore taken by the size that it has elsewhere.
void Recursion::scale_rows(int n, const double* compliance, const double* natural, double tolerance) {
    Node& node = nodes_[n];
    double* W = roots_.data() + node.roots;
    for (int i = 0; i < node.closed; ++i) {
        const int row = slot_row_[node.slot + node.open + i];
        if (compliance[row] > 0.0) {
            for (int c = 0; c < node.open + node.closed; ++c) W[node.height * c + node.used] = 0.0;
            W[node.height * (node.open + i) + node.used++] = std::sqrt(compliance[row]);
        }
        const double whole = natural[row] > 0.0 ? natural[row] : 1.0;
        largest_[row] = std::max({largest_[row], size_[row] / whole, kLeastSize});
        // A row that says nothing in these coordinates has a gradient of rounding alone.
        scale_[row] = size_[row] > tolerance * tolerance * natural[row] ? 1.0 / std::sqrt(whole * largest_[row]) : 0.0;
    }
}

// Eliminates the multipliers of the rows that are complete here:  λ = K (γ − g + Pᵀ a − H λ_open), K the inverse of
// their block of H plus compliance, on the pivots that it has. Of W = Q R it takes R, and of the open columns the part
// along Q; what is left of these stays W.
void Recursion::close_rows(int n, const double* compliance, const double* natural, double tolerance) {
    Node& node = nodes_[n];
    const int m = node.closed, first = node.slot + node.open;
    double *W = roots_.data() + node.roots, *R = factor_.data() + node.factor, *half = half_.data() + node.half;
    int* order = order_.data() + first;
    scale_rows(n, compliance, natural, tolerance);
    std::fill_n(R, m * m, 0.0);
    for (int i = 0; i < m; ++i) order[i] = i;
    int rank = 0;
    for (; rank < m; ++rank) {
        int best = -1;
        double most = tolerance, largest = 0.0;
        for (int i = rank; i < m; ++i) {
            const double *w = W + node.height * (node.open + order[i]), scale = scale_[slot_row_[first + order[i]]];
            double left = 0.0;
            for (int k = rank; k < node.used; ++k) left += w[k] * w[k];
            left *= scale * scale;
            largest = std::max(largest, left);
            if (left > most) best = i, most = left;
        }
        if (best < 0) {
            largest_dropped_ = std::max(largest_dropped_, largest);
            break;
        }
        std::swap(order[rank], order[best]);
        smallest_ = std::min(smallest_, most);
        reflect(n, rank, order[rank]);
        for (int i = rank; i < m; ++i)
            R[m * order[i] + rank] =
                scale_[slot_row_[first + order[i]]] * W[node.height * (node.open + order[i]) + rank];
        for (int s = 0; s < node.open; ++s) half[node.open * rank + s] = W[node.height * s + rank];
    }
    kept_[n] = rank;
    for (int i = rank; i < m; ++i) dropped_[slot_row_[first + order[i]]] = 1;
    node.used -= rank;
    for (int s = 0; s < node.open; ++s) {
        double* w = W + node.height * s;
        std::copy(w + rank, w + rank + node.used, w);
    }
    if (n < static_cast<int>(tree_.links.size())) substitute_closed(n);
}

// Turns W so that of a closed column nothing is left below `step`.
void Recursion::reflect(int n, int step, int column) {
    const Node& node = nodes_[n];
    double* W = roots_.data() + node.roots;
    const int rows = node.used - step, *order = order_.data() + node.slot + node.open;
    const double factor = make_reflector(W + node.height * (node.open + column) + step, rows, reflector_.data());
    for (int s = 0; s < node.open; ++s) apply_reflector(reflector_.data(), factor, rows, W + node.height * s + step);
    for (int i = step + 1; i < node.closed; ++i)
        apply_reflector(reflector_.data(), factor, rows, W + node.height * (node.open + order[i]) + step);
}

// I += P K Pᵀ, and P of the open rows loses what goes through K: with the rows of R⁻ᵀ P.
void Recursion::substitute_closed(int n) {
    const Node& node = nodes_[n];
    const int m = node.closed, first = node.slot + node.open;
    const double *R = factor_.data() + node.factor, *half = half_.data() + node.half;
    const int* order = order_.data() + first;
    for (int i = 0; i < kept_[n]; ++i) {
        const int pivot = order[i];
        Load& P = half_columns_[first + i] = scale_[slot_row_[first + pivot]] * columns_[first + pivot];
        for (int j = 0; j < i; ++j) P += -R[m * pivot + j] * half_columns_[first + j];
        P = (1.0 / R[m * pivot + i]) * P;
        inertia_[n].add_dyad(1.0, P, P);
        for (int s = 0; s < node.open; ++s) columns_[node.slot + s] += -half[node.open * i + s] * P;
    }
}

// y = R⁻ᵀ (γ − g), which acts as a load and on the open rows.
template <class S>
void Recursion::close_up(int n, const S* targets) {
    Flow<S>& f = flow<S>();
    const Node& node = nodes_[n];
    const int m = node.closed, first = node.slot + node.open;
    const double *R = factor_.data() + node.factor, *half = half_.data() + node.half;
    const int* order = order_.data() + first;
    for (int i = 0; i < kept_[n]; ++i) {
        const int row = slot_row_[first + order[i]];
        S y = scale_[row] * (targets[row] - f.g[first + order[i]]);
        for (int j = 0; j < i; ++j) y -= R[m * order[i] + j] * f.y[first + j];
        f.y[first + i] = y = y / R[m * order[i] + i];
        for (int s = 0; s < node.open; ++s) f.g[node.slot + s] += y * half[node.open * i + s];
        if (n < static_cast<int>(tree_.links.size())) f.p[n] += times(half_columns_[first + i], y);
    }
}

// λ = R⁻¹ (y + (R⁻ᵀ P)ᵀ a − QᵀW λ_open)
template <class S>
void Recursion::close_down(int n, const MotionT<S>& a, S* lambda) {
    const Flow<S>& f = flow<S>();
    const Node& node = nodes_[n];
    const int m = node.closed, first = node.slot + node.open, rank = kept_[n];
    const double *R = factor_.data() + node.factor, *half = half_.data() + node.half;
    const int* order = order_.data() + first;
    const bool moves = n < static_cast<int>(tree_.links.size());
    for (int i = 0; i < m; ++i) lambda[slot_row_[first + i]] = S{};
    for (int i = rank - 1; i >= 0; --i) {
        S v = f.y[first + i];
        if (moves) v += dot(a, half_columns_[first + i]);
        for (int s = 0; s < node.open; ++s) v -= half[node.open * i + s] * lambda[slot_row_[node.slot + s]];
        for (int j = i + 1; j < rank; ++j) v -= R[m * order[j] + i] * lambda[slot_row_[first + order[j]]];
        lambda[slot_row_[first + order[i]]] = v / R[m * order[i] + i];
    }
    for (int i = 0; i < rank; ++i) lambda[slot_row_[first + order[i]]] *= scale_[slot_row_[first + order[i]]];
}

// Of each joint  τ − Sᵀ f − rotor u̇, f being what the link and all that hangs on it ask for; of each row
// γ − J u̇ − compliance λ.
//
// Where a light body carries a heavy one, what its joint accelerates is the small rest of large inertias, and the
// factors know it to few digits. The equations themselves are exact: what they lack is found in twice the digits and
// solved for by the same factors until nothing is lacking.
void Recursion::find_lacks(const TreeState& k, const Input& in, const double* udot, const double* lambda) {
    const int n = static_cast<int>(tree_.links.size());
    for (int i = 0; i < n; ++i) {
        const Link& link = tree_.links[i];
        MotionT<Exact> a = in.bias == nullptr ? MotionT<Exact>{} : exact(in.bias[i]);
        if (link.parent >= 0) a += inward(exact(k.rotation[i]), exact(k.shift[i]), motions_[link.parent]);
        for (int c = 0; c < link.speeds; ++c) a += Exact(udot[link.u + c]) * exact(k.S[link.u + c]);
        motions_[i] = a;
        forces_[i] = inertial(link, a);
        forces_[i] += Exact(-1.0) * exact(in.loads[i]);
    }
    for (int r = 0; r < rows_; ++r) gap_[r] = Exact(in.targets[r]) - Exact(compliance_[r]) * Exact(lambda[r]);
    for (const RowEnd& end : ends_) {
        if (end.link < 0) continue;
        const ForceT<Exact> load = exact(end.load);
        forces_[end.link] += Exact(-lambda[end.row]) * load;
        gap_[end.row] = gap_[end.row] - dot(motions_[end.link], load);
    }
    for (int i = n - 1; i >= 0; --i) {
        const Link& link = tree_.links[i];
        for (int c = 0; c < link.speeds; ++c) {
            Exact lack = -dot(exact(k.S[link.u + c]), forces_[i]);
            if (in.efforts != nullptr) lack += in.efforts[link.u + c];
            lack += Exact(-link.rotor[c]) * Exact(udot[link.u + c]);
            lack_[link.u + c] = lack.hi;
        }
        if (link.parent >= 0) forces_[link.parent] += outward(exact(k.rotation[i]), exact(k.shift[i]), forces_[i]);
    }
    for (int r = 0; r < rows_; ++r) gaps_[r] = gap_[r].hi;
}

void Recursion::refine(const TreeState& k, const Input& in, double* udot, double* lambda) {
    double last = 0.0;
    for (int pass = 0; pass < kMostPasses; ++pass) {
        find_lacks(k, in, udot, lambda);
        std::copy_n(lambda, rows_, more_lambda_.data());
        solve(k, {nothing_.data(), lack_.data(), nullptr, nullptr, gaps_.data()}, more_.data(), more_lambda_.data());
        const double change = largest(more_);
        if (!std::isfinite(change) || (pass > 0 && !(change < 0.5 * last))) return;
        double size = 0.0;
        for (size_t i = 0; i < more_.size(); ++i) {
            udot[i] += more_[i];
            size = std::max(size, std::abs(udot[i]));
        }
        for (int r = 0; r < rows_; ++r)
            if (dropped_[r] == 0) lambda[r] += more_lambda_[r];
        if (change <= kExact * size) return;
        last = change;
    }
}

}  // namespace bellcrank::recursive
