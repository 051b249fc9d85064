// A follower against a cam that turns about z of marker 1. The cam is given by its motion law s(θ),
// functions/waves.hpp, and not by its outline; θ is the angle by which it has turned.
//   cam_lift    s(θ) of the twist θ about z. Between a frame and the cam: what a follower there has to travel.
//   cam_slide   y − s(θ) of a point, origin 2, that travels parallel to a line at the offset e from the axis.
//               Parameters e, then those of s.
//   cam_swing   ψ − s(θ) of a point on an arm of length l about a pivot at the distance a from the axis; ψ is the angle
//               at the pivot between the line to the axis and the arm. Parameters a, l, then those of s.
// The point alone, seen in the cam's axes, says where it is seen in the frame: at its distance ρ from the axis the path
// of the follower is met in the direction δ(ρ), measured from the frame's x axis, which the offset or the pivot lies
// on:
//   slide:  y = √(ρ² − e²),  δ = atan2(y, e);       swing:  cos ψ = (a² + l² − ρ²)/(2 a l),  δ = atan2(l sin ψ, a − l
//   cos ψ)
// and as the cam sees it at its azimuth β = δ − θ, θ = δ − β. So the zeros of the last two are the path that the point
// takes on the cam, the pitch curve; their gradients are normal to it and load no follower along its path by more than
// its multiplier: where frame and cam rest, β follows δ.
#include "functions/waves.hpp"
#include "joints/formula.hpp"

namespace bellcrank {

namespace {

constexpr double kLeastSquare = 1e-24;  // a root of less has no slope: where the point is out of the follower's reach

template <class S>
JetT<S> bounded_root(const JetT<S>& a) {
    using std::sqrt, std::max;
    const S h = sqrt(max(a.value, S(kLeastSquare)));
    return chain(a, h, 0.5 / h, -0.25 / (h * h * h));
}
inline Expression bounded_root(Expression a) { return sqrt(max(a, kLeastSquare)); }

template <class S>
JetT<S> lift_at(const JetT<S>& turn, std::span<const S> law) {
    const FunctionValueT<S> v = waves_at(law, turn.value);
    return chain(turn, v.f, v.d1, v.d2);
}

// Numbers of a coordinate are none of its parameters' expressions (mechanism/cams.py): the law is a table.
inline Expression lift_at(Expression turn, std::span<const Expression> law) {
    std::vector<double> numbers;
    for (const Expression& e : law) numbers.push_back(e.graph->constant_value(e.ref));
    const std::uint16_t table = turn.graph->table({"waves", std::move(numbers)});
    return {turn.graph, turn.graph->table_value(table, 0, turn.ref)};
}

constexpr auto kLift = [](auto&& pose, auto params) {
    return lift_at(2.0 * angle(pose.quaternion(3), pose.quaternion(0)), params);
};

// What the follower's own coordinate is where the point is seen at x, y, less the law at the angle of the cam there.
template <class P, class N>
auto slide(P&& pose, const N* number, std::span<const N> law) {
    const auto x = pose.position(0), y = pose.position(1);
    const auto travel = bounded_root(x * x + y * y + -(number[0] * number[0]));
    const auto offset = 0.0 * travel + number[0];
    return travel - lift_at(angle(travel, offset) - angle(y, x), law);
}

template <class P, class N>
auto swing(P&& pose, const N* number, std::span<const N> law) {
    const N distance = number[0], arm = number[1], twice = 2.0 * distance * arm;
    const auto x = pose.position(0), y = pose.position(1);
    const auto cosine = (-1.0 / twice) * (x * x + y * y) + (distance * distance + arm * arm) / twice;
    const auto sine = bounded_root(-1.0 * (cosine * cosine) + N(0.0 * arm + 1.0));
    const auto direction = angle(arm * sine, -1.0 * (arm * cosine) + distance);
    return angle(sine, cosine) - lift_at(direction - angle(y, x), law);
}

constexpr auto kSlide = [](auto&& pose, auto params) { return slide(pose, params.data(), params.subspan(1)); };
constexpr auto kSwing = [](auto&& pose, auto params) { return swing(pose, params.data(), params.subspan(2)); };

template <int own>
void check_cam(std::span<const double> params) {
    if (params.size() <= own) throw std::invalid_argument("it needs the numbers of a cam");
    check_waves(params.subspan(own));
    if (own == 2 && !(params[0] > 0.0 && params[1] > 0.0))
        throw std::invalid_argument("the pivot's distance and the arm must be greater than zero");
}

const CoordinateRegistration cam_lift(kind_of<kLift>("cam_lift", Angle::none, check_cam<0>));
const CoordinateRegistration cam_slide(kind_of<kSlide>("cam_slide", Angle::none, check_cam<1>));
const CoordinateRegistration cam_swing(kind_of<kSwing>("cam_swing", Angle::none, check_cam<2>));

}  // namespace

}  // namespace bellcrank
