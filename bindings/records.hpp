// Values across the border to Python: records of the core (spatial/fields.hpp) as objects, dicts and rows of numbers,
// and its vectors, quaternions and matrices as arrays.
#pragma once

#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "spatial/algebra.hpp"
#include "spatial/fields.hpp"

namespace nanobind::detail {

// Numbers that lie one after another: what Python gives, and the array that it gets.
template <class Numbers, class In, class Out>
struct NumbersCaster {
    NB_TYPE_CASTER(Numbers, io_name("numpy.typing.ArrayLike", "numpy.typing.NDArray[numpy.float64]"))

    bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
        make_caster<In> given;
        if (!given.from_python(source, flags, cleanup)) return false;
        std::memcpy(&value, given.value.data(), sizeof(Numbers));
        return true;
    }
    static handle from_cpp(const Numbers& numbers, rv_policy, cleanup_list* cleanup) noexcept {
        Out out;
        std::memcpy(out.data(), &numbers, sizeof(Numbers));
        return make_caster<Out>::from_cpp(std::move(out), rv_policy::move, cleanup);
    }
};

using Matrix3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
template <>
struct type_caster<bellcrank::Vec3> : NumbersCaster<bellcrank::Vec3, std::array<double, 3>, Eigen::Vector3d> {};
template <>
struct type_caster<bellcrank::Quat> : NumbersCaster<bellcrank::Quat, std::array<double, 4>, Eigen::Vector4d> {};
template <>
struct type_caster<bellcrank::Mat3> : NumbersCaster<bellcrank::Mat3, Matrix3, Matrix3> {};

}  // namespace nanobind::detail

namespace bellcrank {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Column = Eigen::VectorXd;

template <class Number>
Eigen::VectorX<Number> column_of(const std::vector<Number>& numbers) {
    return Eigen::Map<const Eigen::VectorX<Number>>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
}

template <class Record, std::size_t I>
using FieldValue = std::remove_cvref_t<decltype(std::declval<Record&>().*std::get<I>(Record::fields()).member)>;

// A field's value as Python sees it: lists of numbers are arrays.
template <class Value>
nanobind::object shown(const Value& value) {
    return nanobind::cast(value);
}
template <class Number>
    requires std::is_arithmetic_v<Number>
nanobind::object shown(const std::vector<Number>& value) {
    return nanobind::cast(column_of(value));
}

// Name, count of numbers, unit, meaning, default and least value of each field; of a record within one, those of its
// own.
template <class Record>
nanobind::list described() {
    nanobind::list out;
    const Record initial{};
    for_each_field<Record>([&]<class Owner, class Value>(const Field<Owner, Value>& field) {
        if constexpr (requires { Value::fields(); }) {
            out.extend(described<Value>());
        } else {
            nanobind::object value = nanobind::none();
            if constexpr (!std::is_array_v<Value>) value = shown(initial.*field.member);
            constexpr std::size_t count = std::is_arithmetic_v<Value> ? 1 : sizeof(Value) / sizeof(double);
            out.append(nanobind::make_tuple(field.name, count, field.unit, field.meaning, value, field.least));
        }
    });
    return out;
}

// The values of a record by their names; of a record within one, those of its own.
template <class Record>
void put(nanobind::dict& out, const Record& record) {
    for_each_field<Record>([&]<class Owner, class Value>(const Field<Owner, Value>& field) {
        if constexpr (requires { Value::fields(); })
            put(out, record.*field.member);
        else
            out[field.name] = shown(record.*field.member);
    });
}
template <class Record>
nanobind::dict dict_of(const Record& record) {
    nanobind::dict out;
    put(out, record);
    return out;
}

// A row for each record of numbers alone.
template <class Record>
Rows rows_of(const std::vector<Record>& records) {
    constexpr Eigen::Index width = sizeof(Record) / sizeof(double);
    return Eigen::Map<const Rows>(reinterpret_cast<const double*>(records.data()),
                                  static_cast<Eigen::Index>(records.size()), width);
}

// What Python gives for a value of this type, which the value is made of.
template <class Value>
struct Given {
    using Type = Value;
    static const Value& made(const Value& given) { return given; }
};
template <class Held>
struct Given<std::shared_ptr<const Held>> {
    using Type = std::shared_ptr<Held>;
    static const Type& made(const Type& given) { return given; }
};

enum class Missing { refused, initial };

// A class of records, which tells their fields.
template <class Record>
nanobind::class_<Record> bind_record(nanobind::module_& m, const char* name, const char* about) {
    nanobind::class_<Record> bound(m, name, about);
    bound.def_static("fields", &described<Record>,
                     nanobind::sig("def fields() -> list[tuple[str, int, str, str, typing.Any, float | None]]"),
                     "Name, count of numbers, unit, meaning, default and least value of each.");
    return bound;
}

// Records are made of their fields by name; those that are not given, if that is allowed, are as in a new record.
template <Missing missing = Missing::refused, class Record>
nanobind::class_<Record>& make_by_name(nanobind::class_<Record>& bound) {
    const Record initial{};
    const auto argument = [&]<class Owner, class Value>(const Field<Owner, Value>& field) {
        if constexpr (missing == Missing::refused)
            return nanobind::arg(field.name);
        else if constexpr (std::is_same_v<typename Given<Value>::Type, Value>)
            return nanobind::arg(field.name) = initial.*field.member;
        else
            return nanobind::arg(field.name) = typename Given<Value>::Type{};
    };
    const auto bind = [&]<std::size_t... I>(std::index_sequence<I...>) {
        const auto make = [](Record* self, const typename Given<FieldValue<Record, I>>::Type&... given) {
            Record made{};
            ((made.*std::get<I>(Record::fields()).member = Given<FieldValue<Record, I>>::made(given)), ...);
            new (self) Record(std::move(made));
        };
        bound.def("__init__", make, nanobind::kw_only(), argument(std::get<I>(Record::fields()))...);
    };
    bind(std::make_index_sequence<std::tuple_size_v<decltype(Record::fields())>>());
    return bound;
}

// Records have their fields as attributes.
template <class Record>
nanobind::class_<Record>& read_by_name(nanobind::class_<Record>& bound) {
    for_each_field<Record>([&]<class Owner, class Value>(const Field<Owner, Value>& field) {
        const auto value = [member = field.member](const Record& self) { return self.*member; };
        if (*field.meaning != 0)
            bound.def_prop_ro(field.name, value, field.meaning);
        else
            bound.def_prop_ro(field.name, value);
    });
    return bound;
}

}  // namespace bellcrank
