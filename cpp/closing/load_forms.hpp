// What limits of dry friction grow with, as linear forms of multipliers (docs/theory/friction.md, section 4).
#pragma once

#include <vector>

#include "closing/row_loads.hpp"
#include "model/model.hpp"

namespace bellcrank {

// z = A w of all loads of the model, one number by form, with w the wrench of a joint in axes of its first marker, or
// multipliers of rows: z = B λ, with few entries of B by form.
class LoadForms {
  public:
    explicit LoadForms(const Model& model);

    int count() const { return static_cast<int>(begin_.size()) - 1; }
    // The first form of a load.
    int first(size_t load) const { return first_[load]; }
    // Takes up B where Jacobians are.
    void place(const RowLoads& loads);
    // z of multipliers.
    void of(const std::vector<double>& multipliers, double* z) const;

  private:
    struct Entry {
        int row;  // in storage
        double value;
    };
    struct Wrench {
        size_t load;     // the first of those that grow with it
        int begin, end;  // of forms
    };
    void list(const RowLoads& loads);

    const Model& model_;
    std::vector<int> first_;     // by load
    std::vector<size_t> begin_;  // by form: of entries_
    std::vector<Entry> entries_;
    std::vector<Wrench> wrenches_;
    bool listed_ = false;
    std::vector<double> covectors_, by_rows_;
};

}  // namespace bellcrank
