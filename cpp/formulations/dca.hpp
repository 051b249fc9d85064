// Divide and conquer with augmented Lagrangian and mass-orthogonal projections (P. Malczyk, J. Frączek, Nonlinear Dyn.
// 70 (2012) 871). Multipliers are iterated from zero by a penalty rule, λ ← λ + α (C̈ + 2Ωμ Ċ + Ω² C), at the levels of
// positions, velocities and accelerations alike, with matrices that are formed once per step: rows may be redundant or
// singular, and the mechanism is put together by a binary tree (cpp/assemblies).
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "assemblies/assembly.hpp"
#include "assemblies/body_loads.hpp"
#include "bodies/constrained_bodies.hpp"

namespace bellcrank {

struct DcaOptions : StopOptions {
    DcaOptions() { position_tolerance = 1e-14; }

    double penalty = 1e10;  // α
    double max_penalty = 1e11;
    double frequency = 1.0 / 7.0;  // Ω
    double damping = 1.0;          // μ
    bool projections = true;
    int max_iterations = 10;
    double velocity_tolerance = 1e-12;
    double acceleration_tolerance = 1e-10;
    int threads = 0;

    BELLCRANK_MORE_FIELDS(
        DcaOptions, StopOptions, (penalty, "", "Penalty of the augmented rule, in parts of the mass that a row sees."),
        (max_penalty, "",
         "Penalty up to which it grows where a row nearly depends on others and accelerations do not settle."),
        (frequency, "", "Natural frequency of constraint errors without projections, in parts of sqrt(g/l).", 0.0),
        (damping, "", "Damping ratio of constraint errors without projections.", 0.0),
        (projections, "", "Project positions and velocities onto the constraints; else errors die out by damping."),
        (max_iterations, "", "Iterations at each level before the next one begins.", 1.0),
        (position_tolerance, "",
         "Correction of positions that ends their iterations, in parts of the links' size and in radians."),
        (velocity_tolerance, "", "The same of velocities, in parts of the largest."),
        (acceleration_tolerance, "", "The same of accelerations, in parts of the largest."),
        (threads, "", "Threads that share large mechanisms at most; 0: as many as processors."))
};

class Dca final : public ConstrainedBodies {
  public:
    enum Level { positions, velocities, accelerations };
    static constexpr int kMostCounted = 32;
    using Histogram = std::array<std::array<long long, kMostCounted>, 3>;  // per level: how often so many iterations

    Dca(std::shared_ptr<const Model> model, const DcaOptions& options);

    void accelerate(double t, const double* x, const double* u, double* udot) override;
    bool project(double t, double* x, double* u) override;
    double position_noise(const double* x) const override;
    std::vector<int> dropped_rows() override;

    const Assembly& assembly() const { return assembly_; }
    int threads() const { return pool_ ? pool_->threads() : 1; }
    // What the nodes of the tree cost at the last configuration.
    Assembly::Times measure_nodes();
    const Histogram& iterations() const { return iterations_; }

  private:
    void accelerate_held(double t, const double* x, const double* u, double* udot);
    struct Sizes {  // largest components, lengths in parts of l
        double step, motion;
    };
    struct Chunk {  // what one thread works on at a time
        int stage, body_begin, body_end, block_begin, block_end, row_begin, row_end;
        Sizes sizes;
        double smallest_pivot;
        int dropped;
        bool doubtful;
    };

    void refresh(double t, const double* x) override;
    void factor();
    void form();
    bool judge_pivots();
    void ready();  // matrices that serve

    // One iteration after another until what they change is small: residual() fills rhs_, apply() takes what rhs_ has
    // become and says how large it is in parts of the tolerance.
    template <class Residual, class Apply>
    bool iterate(Level level, const Residual& residual, const Apply& apply);
    bool stiffen();
    void divide();
    void row_squares(const Chunk& chunk, std::span<const double> metric, std::vector<double>& out) const;
    template <class Visit>
    void each_chunk(const Visit& visit) {  // threads share them
        const int count = static_cast<int>(chunks_.size());
        if (pool_) return pool_->run(count, [&](int c) { visit(chunks_[c]); });
        for (Chunk& chunk : chunks_) visit(chunk);
    }
    void evaluate_jacobians(double t, const double* x);
    Sizes apply(const std::vector<double>& lambda, double* motion);
    double size(const double* motion);
    void stabilize(const double* u);
    void iterate_accelerations(double t, const double* x, const double* u, double* udot);
    void solve_with_stops(std::vector<double>& lambda);
    void solve_rows(Level level, std::vector<double>& lambda);
    void find_impulses(std::vector<double>& b) override;
    void solve_along(const std::vector<double>& wanted, double* v, std::vector<double>& mu) override;
    // Projections.
    bool begin_stage(double t, const double* x, const double* u) override;
    double largest_error(bool dropped) override;
    void correct_positions(double t, double* x, bool doubting) override;
    double correct_rates(double t, const double* x, double* u) override;
    bool rows_hold(const double* x) override;
    bool velocity_rows_interfere() override { return largest_error(false) > 1e2 * dca_options_.position_tolerance; }
    void refactor() override { factor(); }

    void rows_changed() override { factored_ = false; }
    // Redundant rows (dca/rank.cpp).
    int null_dimension() override;
    void add_null_vectors(RowLoads& out) override;
    void measure_doubtful_rows();
    double relative_pivot(int row) const;
    double redundant_below(int row) const;
    bool is_doubtful(int row) const;
    bool may_depend();
    void find_dependent_rows();
    double find_null_vector(int row);
    void multiply_without_masses(const std::vector<double>& lambda, std::vector<double>& out);
    void make_metric();

    DcaOptions dca_options_;
    Assembly assembly_;
    BodyLoads body_loads_;
    std::vector<Chunk> chunks_;
    std::vector<int> bodies_;
    std::unique_ptr<ThreadPool> pool_;
    bool wide_masses_ = false;
    bool drifts_ = false;                    // whether residuals hold more than Q_c − J u̇
    std::vector<double> compliance_;         // per storage row
    double length_ = 1.0, frequency_ = 0.0;  // l [m], Ω [1/s]

    double penalty_ = 0.0;   // of the matrices at hand
    bool factored_ = false;  // whether the assembly holds the matrices of the augmented rule
    double moved_ = 0.0;     // by how much positions were corrected since these were formed
    double most_moved_ = 0.0;

    std::vector<double> step_;                              // tangent vector
    std::vector<double> rhs_, squares_, softness_, drift_;  // rows
    std::vector<double> wanted_, null_;                     // rows: right-hand side with stops; what exerts nothing
    std::vector<double> change_;                            // rows: S of an iteration's multipliers
    Histogram iterations_{};
    // Per row: the pivot up to which it was measured to be redundant; the one with which it was measured to be needed.
    std::vector<double> redundant_, needed_;
    std::vector<int> doubtful_;
    std::vector<int> dependent_;       // storage rows that depend on others
    Assembly* ranked_ = &assembly_;    // by whose pivots these are found
    std::unique_ptr<Assembly> dense_;  // that assembly where the other has hubs
    std::vector<double> metric_;       // records: M^(1/2) by that of 1 kg at the distance of a body's markers
    std::vector<double> lengths_;      // rows: squares in this metric
    std::vector<double> least_;        // rows: pivots below which these are left out to find them
};

}  // namespace bellcrank
