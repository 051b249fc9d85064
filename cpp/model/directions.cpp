#include "model/directions.hpp"

#include <cstdint>
#include <string>

namespace bellcrank {

std::vector<RowDirection> directions_of_rows(const Model& model) {
    std::vector<int> locked(model.pairs.size(), 0);  // a bit for each component e_k of the pair's quaternion
    for (const Row& row : model.rows) {
        if (row.term_end - row.term_begin != 1) continue;
        const Coordinate& c = model.coordinates[model.terms[row.term_begin].coordinate];
        const std::string& name = c.kind->name;
        if (name.size() == 2 && name[0] == 'e') locked[c.pair] |= 1 << (name[1] - '0');
    }
    std::vector<RowDirection> found;
    std::vector<std::uint8_t> seen(model.coordinates.size(), 0);
    for (const Block& block : model.blocks) {
        if (block.unilateral) continue;
        for (int r = block.row_begin; r < block.row_end; ++r) {
            const int begin = model.rows[r].term_begin, end = model.rows[r].term_end;
            for (int k = begin; k < end; ++k) {
                const int number = model.terms[k].coordinate;
                const Coordinate& c = model.coordinates[number];
                if (!c.kind->angular() || seen[number]++ > 0) continue;
                const DirectionKind* kind = direction_kind(c.kind->name);
                if (kind == nullptr || (kind->keepers & ~locked[c.pair]) == 0) continue;
                const bool driven = end - begin == 1 && kind->at_pole == AtPole::turns_over;
                found.push_back({r, number, kind, driven ? AtPole::ends : kind->at_pole});
            }
        }
    }
    return found;
}

}  // namespace bellcrank
