// The numbers of a model that are formulas of parameters, in the graph of the equations: with other values of the
// parameters the equations stay as they are.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "derivation/algebra.hpp"
#include "model/formulas.hpp"
#include "model/model.hpp"

namespace bellcrank::symbolic {

// Which numbers of ModelData follow parameters, and how.
struct ParametricNumbers {
    struct Entry {
        std::string array;  // of ModelData
        int index;          // of the double in it
        Ref formula;        // of the parameters
    };
    std::shared_ptr<const Graph> graph;
    std::vector<Ref> parameters;  // symbols
    std::vector<double> values;
    std::vector<Entry> entries;
    // Parameters whose values are those of the model's inputs, and numbers that these change: number of the parameter
    // and of a value of formulas or, where there is none (−1), of a double in function_params.
    struct Steered {
        int parameter, formula_value, function_param;
        BELLCRANK_FIELDS(Steered, (parameter), (formula_value), (function_param))
    };
    std::vector<Steered> steered;
};

// Rotations of quaternions such as (√½, √½, 0, 0), with the zeros that rounding missed.
Mat3 clean_matrix(const Quat& q);

class Numbers {
  public:
    // parametric: null if there are none.
    Numbers(Graph& graph, std::shared_ptr<const ParametricNumbers> parametric);

    // A number of an array, of that value unless it follows parameters.
    Expression number(const char* array, int index, double value) const;
    Vector vector(const char* array, int index, const Vec3& value) const;
    // The rotation matrix of a quaternion, which need not have unit length where it follows parameters.
    Matrix rotation(const char* array, int index, const Quat& value) const;
    // Whether one of `count` numbers from there on follows parameters.
    bool follows(const char* array, int index, int count = 1) const;

    // Takes the values of what is steered from the model.
    void steer(const ModelData& data);

    // The parameters in this graph, with their values.
    const std::vector<Ref>& parameters() const { return parameters_; }
    const std::vector<double>& values() const { return values_; }
    // What follows parameters: number `index` of an array of ModelData, values of formulas among them.
    struct Followed {
        std::string array;
        int index;
        Ref value;
    };
    std::vector<Followed> followed(const Formulas& formulas) const;
    // The image of a symbol that has a key, in whatever graph, if it is a parameter.
    bool image(const Symbol& symbol, Ref& out) const;

  private:
    Graph& graph_;
    std::shared_ptr<const ParametricNumbers> given_;
    std::vector<Ref> parameters_;
    std::vector<double> values_;
    std::map<std::string, std::map<int, Ref>, std::less<>> entries_;
};

// Symbols of what users wrote as formulas, and what stands for them in the graph of the equations.
using Images = std::vector<std::pair<Ref, Ref>>;

// The roots, with parameters that the model does not follow as numbers.
std::vector<Expression> brought(const Formulas& formulas, const Numbers& numbers, Graph& graph,
                                std::span<const Ref> roots, Images images);

// Marker 2 seen from marker 1; with `reversed`, marker 1 seen from marker 2.
struct JointTransform {
    Matrix rotation;
    Vector position;
};
JointTransform transform_of(const Formulas& formulas, const JointFormula& joint, const Numbers& numbers, Graph& graph,
                            const Images& images, bool reversed);

}  // namespace bellcrank::symbolic
