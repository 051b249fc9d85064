#include "spatial/shared_room.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace bellcrank {

namespace {

void place_in_line(std::span<const RoomRequest> requests, SharedRoom& room) {
    for (size_t i = 0; i < requests.size(); ++i) {
        room.offsets[i] = room.size;
        room.size += requests[i].size;
    }
}

std::vector<int> sorted_by_first(std::span<const RoomRequest> requests) {
    std::vector<int> order(requests.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return requests[a].first < requests[b].first; });
    return order;
}

}  // namespace

SharedRoom share_room(std::span<const RoomRequest> requests, Retention retention) {
    SharedRoom room{std::vector<int>(requests.size(), 0), 0};
    if (retention == Retention::kept) {
        place_in_line(requests, room);
        return room;
    }
    std::map<int, std::vector<int>> left;  // offsets by size
    std::multimap<int, int> leaving;       // request by its last stage
    for (int i : sorted_by_first(requests)) {
        const RoomRequest& request = requests[i];
        for (; !leaving.empty() && leaving.begin()->first < request.first; leaving.erase(leaving.begin())) {
            const int gone = leaving.begin()->second;
            left[requests[gone].size].push_back(room.offsets[gone]);
        }
        std::vector<int>& places = left[request.size];
        if (places.empty()) {
            room.offsets[i] = room.size;
            room.size += request.size;
        } else {
            room.offsets[i] = places.back();
            places.pop_back();
        }
        leaving.emplace(request.last, i);
    }
    return room;
}

}  // namespace bellcrank
