// Room in an array for blocks of numbers that are needed during some stages of work only.
#pragma once

#include <span>
#include <vector>

namespace bellcrank {

// Whether what a stage makes is kept, or only as long as stages need it on the way through them.
enum class Retention { kept, passing };

// How long a block is needed: from its first to its last stage, both included.
struct RoomRequest {
    int size, first, last;
};

struct SharedRoom {
    std::vector<int> offsets;  // of each block; blocks that are needed in one stage do not overlap
    int size = 0;
};

// One after the other where they are kept. What passes takes the room of the block of its size that left last: that is
// still in the cache.
SharedRoom share_room(std::span<const RoomRequest> requests, Retention retention);

}  // namespace bellcrank
