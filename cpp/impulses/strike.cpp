#include "impulses/strike.hpp"

#include <algorithm>

#include "impulses/impulse_problem.hpp"

namespace bellcrank {

namespace {

// Adds blows by rows along the world's axes.
void add_blows(ImpulseSpace& space, const std::vector<Blow>& blows, double* u) {
    ConeLayout layout;
    std::vector<ImpulsePoint> points;
    std::vector<double> impulses;
    for (const ImpulsePiece& piece : space.pieces())
        piece.unilateral ? layout.add_contact() : layout.add_equality(piece.size);
    impulses.assign(layout.rows(), 0.0);
    for (const Blow& blow : blows) {
        const Vec3& P = blow.impulse;
        points.push_back({{blow.body, space.ground()},
                          blow.position,
                          {1, 0, 0},
                          0.0,
                          0.0,
                          0.0,
                          layout.rows(),
                          3,
                          3,
                          {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}});
        layout.add_equality(3);
        impulses.insert(impulses.end(), {P.x, P.y, P.z});
    }
    const auto rows = space.make_rows();
    rows->lay_out(layout, points);
    rows->evaluate(points, std::vector<char>(space.pieces().size(), 0));
    rows->add_response(impulses.data(), u);
}

// Speeds that impulses are to take away: limits that are open are left out, points and closed limits bounce.
void set_speeds(const ImpulseSpace& space, const std::vector<StruckPoint>& points, const std::vector<double>& before,
                double closed, ImpulseProblem& problem) {
    const double fastest = problem.largest(before);
    problem.q = before;
    int row = 0;
    for (const ImpulsePiece& piece : problem.pieces())
        for (int r = 0; r < piece.size; ++r, ++row) {
            double& q = problem.q[row];
            q += piece.compliance > 0.0 ? -before[row] : space.rate(row);
            if (!piece.unilateral) continue;
            q = space.error(row) > closed ? fastest / space.weight(row) : q + piece.restitution * std::min(q, 0.0);
        }
    for (size_t i = 0; i < points.size(); ++i) {
        const int normal = problem.points()[i].row;
        if (!points[i].by_impulse) problem.q[normal] += points[i].restitution * std::min(before[normal], 0.0);
    }
}

// The residual is a part of the largest speed along rows so far, which what is left of a blow may be far below.
ConeReport solve(const ImpulseSpace& space, const std::vector<StruckPoint>& points, double closed, double tolerance,
                 double& fastest, ImpulseProblem& problem, double* u) {
    std::vector<double> before(problem.rows());
    problem.jacobian().to_rows(u, before.data());
    set_speeds(space, points, before, closed, problem);
    const double size = problem.largest(problem.q);
    fastest = std::max({fastest, problem.slow(), problem.largest(before), size});
    if (size <= tolerance * fastest) return {};
    ConeReport report = problem.solve(tolerance);
    std::vector<double> more(points.size(), 0.0);
    for (size_t i = 0; i < points.size(); ++i)
        if (points[i].by_impulse) more[i] = points[i].restitution * problem.impulses[problem.points()[i].row];
    if (std::ranges::any_of(more, [](double push) { return push > 0.0; }))
        if (const ConeReport next = problem.expand(more, tolerance); next.residual > report.residual) report = next;
    report.residual *= std::max(size, problem.slow()) / fastest;
    problem.jacobian().add_response(problem.impulses.data(), u);
    return report;
}

}  // namespace

ImpulseOutcome strike(ImpulseSpace& space, double t, const double* x, const std::vector<Blow>& blows,
                      const std::vector<StruckPoint>& points, double closed, double tolerance, double* u,
                      std::vector<Vec3>& impulses) {
    space.place(t, x);
    ImpulseProblem problem(space);
    double fastest = 0.0;
    ConeReport report;
    if (!blows.empty()) {
        add_blows(space, blows, u);
        problem.finish(false, closed);
        report = solve(space, {}, closed, tolerance, fastest, problem, u);
    }
    for (const StruckPoint& p : points) problem.add({{p.bodies[0], p.bodies[1]}, p.position, p.normal, p.friction});
    problem.finish(false, closed);
    if (const ConeReport next = solve(space, points, closed, tolerance, fastest, problem, u);
        next.residual > report.residual)
        report = next;
    impulses.clear();
    for (const ImpulsePoint& point : problem.points()) impulses.push_back(problem.impulse_at(point));
    ImpulseOutcome outcome;
    outcome.found = report.residual <= tolerance;
    outcome.residual = report.residual;
    outcome.impacts = static_cast<int>(
        std::ranges::count_if(problem.points(), [&](const ImpulsePoint& p) { return problem.impulses[p.row] > 0.0; }));
    const int pieces = static_cast<int>(problem.pieces().size());
    if (report.worst >= pieces)
        outcome.between = std::to_array(problem.points()[report.worst - pieces].bodies);
    else if (report.worst >= 0)
        outcome.row = problem.pieces()[report.worst].model_row;
    return outcome;
}

}  // namespace bellcrank
