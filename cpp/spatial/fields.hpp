// Records: structs that list their fields once, with what users are told of them. Python has names, shapes, units and
// defaults from that list (bindings/records.hpp). It names each member once, so that no two can be exchanged.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>

namespace bellcrank {

// least: the smallest value of an option; without it the value must be greater than zero.
template <class Record, class Value>
struct Field {
    const char* name;
    Value Record::* member;
    const char* unit;
    const char* meaning;
    std::optional<double> least;
};

template <class Record, class Value>
constexpr Field<Record, Value> field(const char* name, Value Record::* member, const char* unit = "",
                                     const char* meaning = "", std::optional<double> least = {}) {
    return {name, member, unit, meaning, least};
}

// BELLCRANK_FIELDS(Record, (name), (name, unit), (name, unit, meaning, least)); MORE_FIELDS: after those of a base.
#define BELLCRANK_FIELDS(Record, ...)                   \
    static constexpr auto fields() {                    \
        using Self = Record;                            \
        return std::tuple(BELLCRANK_EACH(__VA_ARGS__)); \
    }
#define BELLCRANK_MORE_FIELDS(Record, Base, ...)                                        \
    static constexpr auto fields() {                                                    \
        using Self = Record;                                                            \
        return std::tuple_cat(Base::fields(), std::tuple(BELLCRANK_EACH(__VA_ARGS__))); \
    }
#define BELLCRANK_FIELD(name, ...) field(#name, &Self::name __VA_OPT__(, ) __VA_ARGS__)
#define BELLCRANK_EACH(...) BELLCRANK_SCAN(BELLCRANK_SCAN(BELLCRANK_SCAN(BELLCRANK_NEXT(__VA_ARGS__))))
#define BELLCRANK_SCAN(...) BELLCRANK_SCAN_1(BELLCRANK_SCAN_1(BELLCRANK_SCAN_1(BELLCRANK_SCAN_1(__VA_ARGS__))))
#define BELLCRANK_SCAN_1(...) BELLCRANK_SCAN_2(BELLCRANK_SCAN_2(BELLCRANK_SCAN_2(BELLCRANK_SCAN_2(__VA_ARGS__))))
#define BELLCRANK_SCAN_2(...) __VA_ARGS__
#define BELLCRANK_NEXT(one, ...) BELLCRANK_FIELD one __VA_OPT__(, BELLCRANK_LATER BELLCRANK_PARENTHESES(__VA_ARGS__))
#define BELLCRANK_PARENTHESES ()
#define BELLCRANK_LATER() BELLCRANK_NEXT

// Calls `use` with each field.
template <class Record, class Use>
constexpr void for_each_field(Use use) {
    std::apply([&](const auto&... each) { (use(each), ...); }, Record::fields());
}

// Whether the fields fill a record of numbers, in the order of its members.
template <class Record>
constexpr bool fields_fill() {
    const Record record{};
    const void* last = nullptr;
    std::size_t size = 0;
    bool ordered = true;
    for_each_field<Record>([&](const auto& each) {
        const void* const at = &(record.*each.member);
        ordered = ordered && (last == nullptr || last < at);
        last = at;
        size += sizeof(record.*each.member);
    });
    return ordered && size == sizeof(Record);
}

}  // namespace bellcrank
