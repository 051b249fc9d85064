// What exported C files contain beside the program: sine and cosine as in programs/sine_cosine.hpp, tables as in
// cpp/functions, operation by operation.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <set>
#include <stdexcept>

#include "programs/c_source.hpp"
#include "programs/sine_cosine.hpp"

namespace bellcrank {

namespace {

constexpr const char* kSineCosine = R"(
/* Not together, so that no compiler turns them into one call of something else. */
static OUTLINED double beyond_sine(double x) { return sin(x); }
static OUTLINED double beyond_cosine(double x) { return cos(x); }

static inline void sine_cosine(double x, double *sine, double *cosine) {
    if (!(fabs(x) <= BOUND)) {
        *sine = beyond_sine(x);
        *cosine = beyond_cosine(x);
        return;
    }
    const double shifted = fma(x, TWO_OVER_PI, 0x1.8p+52);
    const double n = shifted - 0x1.8p+52;
    uint64_t quarter, s_bits, c_bits, r_bits, difference;
    memcpy(&quarter, &shifted, 8);
    const double first = fma(-n, HALF_PI_1, x);
    const double r = fma(-n, HALF_PI_2, first);
    const double rest = fma(-n, HALF_PI_3, fma(-n, HALF_PI_2, first - r));
    const double z = r * r, zz = z * z;
    const double p = fma(fma(fma(SINE_5, z, SINE_4), zz, fma(SINE_3, z, SINE_2)), zz, fma(SINE_1, z, SINE_0));
    const double q =
        fma(fma(fma(COSINE_5, z, COSINE_4), zz, fma(COSINE_3, z, COSINE_2)), zz, fma(COSINE_1, z, COSINE_0));
    const double half = 0.5 * r;
    const double c0 = fma(-half, r, 1.0);
    const double c1 = fma(-half, r, 1.0 - c0);
    const double c = c0 + fma(zz, q, fma(-r, rest, c1));
    const double s = r + fma(r * z, p, rest * c0);
    const uint64_t sign = (uint64_t)1 << 63;
    memcpy(&s_bits, &s, 8);
    memcpy(&r_bits, &r, 8);
    memcpy(&c_bits, &c, 8);
    s_bits |= r_bits & sign;
    difference = (s_bits ^ c_bits) & (0 - (quarter & 1));
    s_bits = (s_bits ^ difference) ^ ((quarter << 62) & sign);
    c_bits = (c_bits ^ difference) ^ (((quarter + 1) << 62) & sign);
    memcpy(sine, &s_bits, 8);
    memcpy(cosine, &c_bits, 8);
}
)";

constexpr const char* kValue = R"(
typedef struct {
    double f, d1, d2;
} value_t;

static double derivative(value_t v, int order) { return order == 0 ? v.f : order == 1 ? v.d1 : v.d2; }
)";

constexpr const char* kHarmonic = R"(
/* offset, slope, amplitude, omega, phase */
static value_t harmonic(const double *p, double x) {
    const double s = sin(p[3] * x + p[4]), c = cos(p[3] * x + p[4]);
    const value_t v = {p[0] + p[1] * x + p[2] * s, p[1] + p[2] * p[3] * c, -p[2] * p[3] * p[3] * s};
    return v;
}
)";

constexpr const char* kPieces = R"(
/* order, pieces, extrapolation (0 hold, 1 linear, 2 periodic), breaks[pieces + 1], coefficients[pieces][order] of
   powers of (x - break), and once more for the denominators of quotients */
static value_t polynomial(const double *p, int set, int piece, double x) {
    const int order = (int)p[0], count = (int)p[1];
    const double *a = p + 4 + count + (set * count + piece) * order;
    const double h = x - p[3 + piece];
    double f = 0.0, d1 = 0.0, d2 = 0.0;
    for (int i = order - 1; i >= 0; --i) {
        d2 = d2 * h + d1;
        d1 = d1 * h + f;
        f = f * h + a[i];
    }
    const value_t v = {f, d1, 2.0 * d2};
    return v;
}

static value_t inside(const double *p, int kind, double x) {
    const double *b = p + 3;
    int low = 0, high = (int)p[1];
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (x < b[middle])
            high = middle;
        else
            low = middle;
    }
    value_t n = polynomial(p, 0, low, x);
    if (kind == 0) return n;
    if (kind == 2) {
        const double *wave = b + (int)p[1] + 1 + (int)p[1] * (int)p[0] + 3 * low;
        const double s = wave[0] * sin(wave[1] * (x - b[low]) + wave[2]);
        n.f += s;
        n.d1 += wave[0] * wave[1] * cos(wave[1] * (x - b[low]) + wave[2]);
        n.d2 -= wave[1] * wave[1] * s;
        return n;
    }
    const value_t d = polynomial(p, 1, low, x);
    value_t v;
    v.f = n.f / d.f;
    v.d1 = (n.d1 - v.f * d.d1) / d.f;
    v.d2 = (n.d2 - 2.0 * v.d1 * d.d1 - v.f * d.d2) / d.f;
    return v;
}

static value_t pieces(const double *p, int kind, double x) {
    const double start = p[3], end = p[3 + (int)p[1]];
    if (p[2] == 2.0) {
        const double y = x - (end - start) * floor((x - start) / (end - start));
        x = y < end ? y : start;
    }
    if (x >= start && x <= end) return inside(p, kind, x);
    const double edge = x < start ? start : end;
    const value_t at = inside(p, kind, edge);
    const value_t hold = {at.f, 0.0, 0.0}, linear = {at.f + at.d1 * (x - edge), at.d1, 0.0};
    return p[2] == 0.0 ? hold : linear;
}
)";

std::string definition(const std::string& name, double value) {
    return "#define " + name + " (" + c_number(value) + ")\n";
}

std::string sine_cosine_numbers() {
    using namespace sine_cosine_constants;
    std::string text = definition("BOUND", kBound) + definition("TWO_OVER_PI", kTwoOverPi);
    for (int k = 0; k < 3; ++k) text += definition("HALF_PI_" + std::to_string(k + 1), kHalfPi[k]);
    for (int k = 0; k < 6; ++k) text += definition("SINE_" + std::to_string(k), kSine[k]);
    for (int k = 0; k < 6; ++k) text += definition("COSINE_" + std::to_string(k), kCosine[k]);
    return text;
}

}  // namespace

std::string c_number(double value) {
    if (std::isnan(value)) return "NAN";
    if (std::isinf(value)) return value > 0.0 ? "INFINITY" : "(-INFINITY)";
    std::array<char, 40> text;
    std::snprintf(text.data(), text.size(), value < 0.0 || std::signbit(value) ? "(%a)" : "%a", value);
    return text.data();
}

std::string c_decimal(double value) {
    if (!std::isfinite(value)) return c_number(value);
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    std::string text(digits.data(), end);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return std::signbit(value) ? "(" + text + ")" : text;
}

std::string c_table_functions(const std::vector<const Program*>& programs) {
    std::set<std::string> kinds;
    for (const Program* program : programs)
        for (const ProgramTable& table : program->tables) {
            if (table.kind != "harmonic" && table.kind != "piecewise" && table.kind != "rational" &&
                table.kind != "waves")
                throw std::invalid_argument("a function of kind '" + table.kind + "' cannot be written as C");
            kinds.insert(table.kind);
        }
    if (kinds.empty()) return "";
    std::string text = kValue;
    if (kinds.contains("harmonic")) text += kHarmonic;
    if (kinds.contains("piecewise") || kinds.contains("rational") || kinds.contains("waves")) text += kPieces;
    return text;
}

std::string c_tables(const Program& program, const std::string& prefix) {
    std::string text;
    for (std::size_t k = 0; k < program.tables.size(); ++k) {
        const ProgramTable& table = program.tables[k];
        const std::string name = prefix + std::to_string(k);
        text += "\nstatic const double " + name + "_params[] = {";
        for (std::size_t i = 0; i < table.params.size(); ++i)
            text += (i == 0 ? "" : i % 6 == 0 ? ",\n    " : ", ") + c_number(table.params[i]);
        text += "};\nstatic double " + name + "(int order, double x) {\n    return derivative(";
        const char* pieces = table.kind == "rational" ? "1" : table.kind == "waves" ? "2" : "0";
        text += table.kind == "harmonic" ? "harmonic(" + name + "_params" : "pieces(" + name + "_params, " + pieces;
        text += ", x), order);\n}\n";
    }
    return text;
}

std::string c_runtime(const Program& program) {
    const auto uses = [&](std::initializer_list<ProgramOp> ops) {
        return std::any_of(program.instructions.begin(), program.instructions.end(), [&](const Instruction& step) {
            return std::find(ops.begin(), ops.end(), step.op) != ops.end();
        });
    };
    std::string text;
    if (uses({ProgramOp::sine, ProgramOp::cosine, ProgramOp::sine_cosine})) text += sine_cosine_numbers() + kSineCosine;
    return text + c_table_functions({&program}) + c_tables(program, "table_");
}

}  // namespace bellcrank
