// What forces and rows that move do to the bodies, for a ledger of work.
#pragma once

#include <vector>

#include "contacts/contacts.hpp"
#include "model/model.hpp"
#include "model/observation.hpp"

namespace bellcrank {

class Powers {
  public:
    Powers(const Model& model, const Observation& what);

    int columns() const { return columns_; }
    // Whether a row moves by itself at a time: then its power takes multipliers.
    bool any_row_moves(const Scenery& at);
    // The power of each account on the bodies [W] by its column; rows count only with multipliers, by model row.
    void evaluate(const Scenery& at, Contacts& contacts, const double* multipliers, double* powers);

  private:
    using Account = Observation::Account;
    double of_force(const Scenery& at, const Contacts& contacts, const Account& account) const;
    void find_rates(const Scenery& at, int block);

    const Model& model_;
    std::vector<Account> accounts_;
    int columns_;
    bool has_rows_ = false;
    FormulaRows::Values values_;
    double rates_[6];  // J u of the rows of a block, which their own motion prescribes
};

}  // namespace bellcrank
