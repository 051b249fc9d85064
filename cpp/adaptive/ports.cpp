#include "adaptive/ports.hpp"

#include <algorithm>
#include <cmath>

#include "adaptive/room.hpp"

namespace bellcrank {

namespace {

// A row that has less mobility than this, of what it has between bodies that hang on nothing, cannot move.
constexpr double kImmobile = 1e-12;

// The inverse of a symmetric matrix of rows in its place, by sweeps of the largest pivots first; rows that depend on
// others take no part.
void invert_independent(std::vector<double>& S, int n, double sign, double dependent, const double* sizes,
                        double* scale) {
    Room<0> swept(n);  // 1 or 0
    std::fill_n(static_cast<double*>(swept), n, 0.0);
    for (int i = 0; i < n; ++i) scale[i] = sign * S[n * i + i];
    for (int count = 0; count < n; ++count) {
        int pivot = -1;
        double largest = dependent;
        for (int i = 0; i < n; ++i) {
            const bool can_move = scale[i] > kImmobile * sizes[i];
            if (swept[i] != 0.0 || !can_move || !(sign * S[n * i + i] > largest * scale[i])) continue;
            largest = sign * S[n * i + i] / scale[i];
            pivot = i;
        }
        if (pivot < 0) break;
        swept[pivot] = 1.0;
        double* const row = S.data() + static_cast<size_t>(n) * pivot;
        const double inverse = 1.0 / row[pivot];
        for (int i = 0; i < n; ++i) {
            if (i == pivot) continue;
            double* const other = S.data() + static_cast<size_t>(n) * i;
            const double factor = other[pivot] * inverse;
            for (int j = 0; j < n; ++j)
                if (j != pivot) other[j] -= factor * row[j];
        }
        for (int i = 0; i < n; ++i) {
            row[i] *= inverse;
            S[static_cast<size_t>(n) * i + pivot] = row[i];
        }
        row[pivot] = -inverse;
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            double& entry = S[static_cast<size_t>(n) * i + j];
            entry = swept[i] * swept[j] != 0.0 ? -entry : 0.0;
        }
}

// out −= a S⁺ bᵀ, `solved` being S⁺ bᵀ; columns of six per row.
void subtract_products(int rows, const double* a, const double* solved, Matrix6& out) {
    for (int r = 0; r < rows; ++r)
        for (int j = 0; j < 6; ++j) out.set_column(j, out.column(j) - solved[6 * r + j] * six(a + 6 * r));
}

}  // namespace

PortedColumns::PortedColumns(const PortedNode& node, int own, int freedoms, int rows) {
    const size_t all = own + 6 * node.links.size(), some = own + 6 * node.kept.size();
    for (std::vector<double>* each : {&b1, &b2}) each->assign(6 * some, 0.0);
    c.assign(some * some, 0.0);
    gamma.assign(6 * all, 0.0);
    R.assign(freedoms * all, 0.0);
    for (std::vector<double>* each : {&row_b1, &row_b2}) each->assign(6 * static_cast<size_t>(rows), 0.0);
    row_c.assign(rows * all, 0.0);
    inverse.assign(static_cast<size_t>(rows) * rows, 0.0);
    given.assign(6 * node.kept.size(), 0.0);
}

void place_columns(const PartColumns& part, int first, int own, int all, double* b1, double* b2, double* c) {
    const int n = part.own + 6 * part.ports, at = own + 6 * first;
    const auto number = [&](int j) { return j < own ? j : at + j - own; };  // in the whole, own columns first
    const int width = own + 6 * part.ports;
    const auto place = [&](const double* from, double* to) {
        if (from == nullptr || to == nullptr) return;
        for (int j = 0; j < own; ++j) {
            Six sum{};
            if (part.turn == nullptr)
                sum = six(from + 6 * j);
            else
                for (int i = 0; i < part.own; ++i) sum = sum + part.turn[part.own * j + i] * six(from + 6 * i);
            put(to + 6 * j, sum);
        }
        std::copy_n(from + 6 * part.own, 36 * part.ports, to + 6 * at);
    };
    place(part.b1, b1);
    place(part.b2, b2);
    Room<0> half(n * width);  // c times the columns' factors
    for (int j = 0; j < width; ++j)
        for (int i = 0; i < n; ++i) {
            if (j >= own || part.turn == nullptr) {
                half[n * j + i] = part.c[n * (j < own ? j : part.own + j - own) + i];
                continue;
            }
            double sum = 0.0;
            for (int k = 0; k < part.own; ++k) sum += part.turn[part.own * j + k] * part.c[n * k + i];
            half[n * j + i] = sum;
        }
    for (int j = 0; j < width; ++j)
        for (int i = 0; i < width; ++i) {
            double sum = 0.0;
            if (i >= own || part.turn == nullptr)
                sum = half[n * j + (i < own ? i : part.own + i - own)];
            else
                for (int k = 0; k < part.own; ++k) sum += part.turn[part.own * i + k] * half[n * j + k];
            c[all * number(j) + number(i)] += sum;
        }
}

void meet(const MeetingRows& rows, const double* bias, double sign, bool of_load, int own, int all,
          const OfEnds& matrices, double* b1, double* b2, double* c, PortedColumns& out) {
    const int count = rows.count, loads = all - own;
    Room<0> first(6 * count), second(6 * count), across(count * all), scale(count);
    for (int r = 0; r < count; ++r) {
        const double* J = rows.J.data() + static_cast<size_t>(loads) * r;
        Six of_first{}, of_second{};
        for (int p = 0; p < loads; ++p) {
            of_first = of_first + J[p] * six(b1 + 6 * (own + p));
            if (b2 != nullptr) of_second = of_second + J[p] * six(b2 + 6 * (own + p));
        }
        put(first + 6 * r, of_first);
        put(second + 6 * r, of_second);
        for (int j = 0; j < all; ++j) {
            double sum = j < own ? sign * bias[count * j + r] : 0.0;
            for (int p = 0; p < loads; ++p) sum += J[p] * c[all * j + own + p];
            across[all * r + j] = sum;
        }
    }
    for (int r = 0; r < count; ++r)
        for (int s = 0; s < count; ++s) {
            const double* J = rows.J.data() + static_cast<size_t>(loads) * s;
            double sum = 0.0;
            for (int p = 0; p < loads; ++p) sum += J[p] * across[all * r + own + p];
            out.inverse[static_cast<size_t>(count) * r + s] = sum;
        }
    invert_independent(out.inverse, count, sign, rows.dependent, rows.sizes.data(), scale);
    const double as_answer = of_load ? -1.0 : 1.0;
    for (int r = 0; r < count; ++r) {
        const double* S = out.inverse.data() + static_cast<size_t>(count) * r;
        Six of_first{}, of_second{};
        double* to = out.row_c.data() + static_cast<size_t>(all) * r;
        std::fill_n(to, all, 0.0);
        for (int s = 0; s < count; ++s) {
            if (S[s] == 0.0) continue;
            of_first = of_first + S[s] * six(first + 6 * s);
            of_second = of_second + S[s] * six(second + 6 * s);
            for (int j = 0; j < all; ++j) to[j] += S[s] * across[all * s + j];
        }
        put(out.row_b1.data() + 6 * r, of_first);
        put(out.row_b2.data() + 6 * r, of_second);
    }
    subtract_products(count, first, out.row_b1.data(), *matrices.first);
    symmetrize(*matrices.first);
    if (b2 != nullptr && matrices.between != nullptr) {
        subtract_products(count, second, out.row_b1.data(), *matrices.between);
        subtract_products(count, second, out.row_b2.data(), *matrices.second);
        symmetrize(*matrices.second);
    }
    for (int r = 0; r < count; ++r) {
        const double* solved = out.row_c.data() + static_cast<size_t>(all) * r;
        for (int j = 0; j < all; ++j) {
            put(b1 + 6 * j, six(b1 + 6 * j) - solved[j] * six(first + 6 * r));
            if (b2 != nullptr) put(b2 + 6 * j, six(b2 + 6 * j) - solved[j] * six(second + 6 * r));
            for (int i = 0; i < all; ++i) c[all * j + i] -= across[all * r + i] * solved[j];
        }
        put(out.row_b1.data() + 6 * r, as_answer * six(out.row_b1.data() + 6 * r));
    }
}

void keep(const PortedNode& node, int own, int all, const double* b1, const double* b2, const double* c,
          PortedColumns& out) {
    const int kept = static_cast<int>(node.kept.size()), n = own + 6 * kept;
    const auto from = [&](int j) { return j < own ? j : own + 6 * node.kept[(j - own) / 6] + (j - own) % 6; };
    for (int j = 0; j < n; ++j) {
        std::copy_n(b1 + 6 * from(j), 6, out.b1.data() + 6 * j);
        if (b2 != nullptr) std::copy_n(b2 + 6 * from(j), 6, out.b2.data() + 6 * j);
        for (int i = 0; i < n; ++i) out.c[n * j + i] = c[all * from(j) + from(i)];
    }
}

void load_ports(const PortedNode& node, const MeetingRows& rows, const PortedColumns& of, const double* xi, int own,
                const double* kept, const Six& first, const Six& second, double* multipliers, double* loads) {
    const int ports = static_cast<int>(node.links.size()), all = own + 6 * ports;
    std::fill_n(loads, 6 * ports, 0.0);
    for (size_t k = 0; k < node.kept.size(); ++k) std::copy_n(kept + 6 * k, 6, loads + 6 * node.kept[k]);
    for (int r = 0; r < rows.count; ++r) {
        const double* c = of.row_c.data() + static_cast<size_t>(all) * r;
        double sum = dot(six(of.row_b1.data() + 6 * r), first) + dot(six(of.row_b2.data() + 6 * r), second);
        for (int j = 0; j < own; ++j) sum += c[j] * xi[j];
        for (int j = own; j < all; ++j) sum += c[j] * loads[j - own];
        multipliers[r] = -sum;
    }
    for (int r = 0; r < rows.count; ++r)
        for (int p = 0; p < 6 * ports; ++p) loads[p] += multipliers[r] * rows.J[static_cast<size_t>(6) * ports * r + p];
}

Six times(const double* columns, const double* xi, int own, const double* loads, int ports) {
    Six sum{};
    for (int j = 0; j < own; ++j) sum = sum + xi[j] * six(columns + 6 * j);
    for (int p = 0; p < 6 * ports; ++p) sum = sum + loads[p] * six(columns + 6 * (own + p));
    return sum;
}

double square_of(const double* scalar, const double* xi, int own, const double* loads, int ports) {
    const int n = own + 6 * ports;
    const auto factor = [&](int j) { return j < own ? xi[j] : loads[j - own]; };
    double sum = 0.0;
    for (int j = 0; j < n; ++j) {
        double column = 0.0;
        for (int i = 0; i < n; ++i) column += factor(i) * scalar[n * j + i];
        sum += factor(j) * column;
    }
    return sum;
}

}  // namespace bellcrank
