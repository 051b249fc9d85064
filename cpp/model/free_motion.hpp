// How bodies accelerate that no constraint holds.
#pragma once

#include <span>
#include <vector>

#include "contacts/contacts.hpp"
#include "model/branches.hpp"
#include "model/model.hpp"
#include "spatial/aligned.hpp"

namespace bellcrank {

// u̇ = M⁻¹ f in records of kTwist, the ground's zero. What elements of the model exert takes all bodies at once; gravity
// and gyroscopic moments follow body by body, so that large systems do so just before a body's joints ask for it.
class FreeMotion {
  public:
    FreeMotion(const Model& model, const AngleBranches& branches, Contacts& contacts);

    void begin(double t, const double* x, const double* u, double* udot) const;
    void finish(std::span<const int> bodies, const double* u, double* udot) const;
    void finish(const double* u, double* udot) const { finish(all_, u, udot); }

  private:
    template <bool kAdds>
    void finish(std::span<const int> bodies, const double* u, double* udot) const;

    const Model& model_;
    const AngleBranches& branches_;
    Contacts& contacts_;
    bool elements_;                // whether elements exert forces
    std::vector<double> inverse_;  // M⁻¹ in records of kTwist; empty without
    AlignedVector gyroscopic_;     // per body (I2 − I3)/I1 and so on, 0
    std::vector<int> all_;
};

}  // namespace bellcrank
