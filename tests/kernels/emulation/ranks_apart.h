// SPDX-License-Identifier: Apache-2.0
// What ranks of a group give each other that are in processes of their own: files in a folder that
// is named like the group, below the folder for temporary files.
#pragma once

#include "kernels/weft_collectives.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace weft::test {

/// What a rank gives in a call: what it calls, and the bytes of each transfer.
struct Gift {
    weft_collective_call call{}; // without its list
    std::vector<weft_transfer> list;
    std::vector<std::vector<unsigned char>> bytes;
};

class RanksApart {
public:
    RanksApart(const std::string& group, int size);

    void join(int rank) const;
    bool all_joined() const;

    /// Gives, for those who take part in a call: "all" ranks or the pair "0 to 1". What this rank
    /// gave in the call before the last one is not needed any more: all have come to the last.
    void give(const std::string& part, std::int64_t number, int place, const Gift& gift) const;
    bool all_gave(const std::string& part, std::int64_t number, int places) const;
    Gift gift_of(const std::string& part, std::int64_t number, int place) const;

private:
    std::filesystem::path file(const std::string& part, std::int64_t number, int place) const;

    const std::filesystem::path folder_;
    const int size_;
};

} // namespace weft::test
