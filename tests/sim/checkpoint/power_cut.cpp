// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/checkpoint/power_cut.h"

#include <algorithm>
#include <fstream>
#include <map>

namespace weft::checkpoint::test {
namespace {

using Kind = DiskChange::Kind;

constexpr std::size_t kPageBytes = 4096;

struct Node {
    bool is_folder = false;
    std::string bytes;                // of a file
    std::map<std::string, int> names; // in a folder
};

class Disk {
public:
    Disk(std::span<const DiskChange> changes, std::mt19937& random)
        : changes_(changes), random_(random) {
        nodes_[0].is_folder = true;
        for (std::size_t i = 0; i < changes.size(); ++i) {
            if (changes[i].kind == Kind::sync) {
                synced_[changes[i].node] = i;
            }
        }
        for (std::size_t i = 0; i < changes.size(); ++i) {
            apply(i);
        }
    }

    void lay_out(const std::filesystem::path& folder, int number = 0) const {
        for (const auto& [name, child] : nodes_.at(number).names) {
            const Node& node = nodes_.at(child);
            if (node.is_folder) {
                std::filesystem::create_directory(folder / name);
                lay_out(folder / name, child);
            } else {
                std::ofstream(folder / name, std::ios::binary) << node.bytes;
            }
        }
    }

private:
    void apply(std::size_t i) {
        const DiskChange& change = changes_[i];
        switch (change.kind) {
        case Kind::create:
            nodes_[change.node].is_folder = change.is_folder;
            if (happens(change.folder, i)) {
                nodes_[change.folder].names[change.name] = change.node;
            }
            break;
        case Kind::rename: rename(change, i); break;
        case Kind::remove:
            if (happens(change.folder, i)) {
                nodes_[change.folder].names.erase(change.name);
            }
            break;
        case Kind::write: write(change, i); break;
        case Kind::resize:
            if (happens(change.node, i)) {
                nodes_[change.node].bytes.resize(static_cast<std::size_t>(change.offset));
            }
            break;
        case Kind::sync:
        case Kind::mark: break;
        }
    }

    /// Whether change i of the node is on the medium.
    bool happens(int node, std::size_t i) {
        const auto sync = synced_.find(node);
        return (sync != synced_.end() && sync->second > i) || coin();
    }

    void rename(const DiskChange& change, std::size_t i) {
        const bool happened = happens(change.folder, i);
        if (happened && (change.folder == change.new_folder || happens(change.new_folder, i))) {
            std::map<std::string, int>& names = nodes_[change.folder].names;
            if (const auto old = names.find(change.name);
                old != names.end() && old->second == change.node) {
                names.erase(old);
            }
            nodes_[change.new_folder].names[change.new_name] = change.node;
        }
    }

    /// A page that has lost a write keeps the state from before it, whatever is written later.
    void write(const DiskChange& change, std::size_t i) {
        std::string& bytes = nodes_[change.node].bytes;
        const auto begin = static_cast<std::size_t>(change.offset);
        const std::size_t end = begin + change.bytes.size();
        for (std::size_t from = begin; from < end;) {
            const std::size_t page = from / kPageBytes;
            const std::size_t to = std::min(end, (page + 1) * kPageBytes);
            const std::pair<int, std::size_t> place(change.node, page);
            const bool lost = std::find(frozen_.begin(), frozen_.end(), place) != frozen_.end();
            if (!lost && happens(change.node, i)) {
                bytes.resize(std::max(bytes.size(), to));
                bytes.replace(from, to - from, change.bytes, from - begin, to - from);
            } else if (!lost) {
                frozen_.push_back(place);
            }
            from = to;
        }
    }

    bool coin() { return (random_() & 1U) != 0; }

    const std::span<const DiskChange> changes_;
    std::mt19937& random_;
    std::map<int, std::size_t> synced_; // the last sync of a node
    std::map<int, Node> nodes_;
    std::vector<std::pair<int, std::size_t>> frozen_; // pages of files
};

} // namespace

void leave_after_power_cut(std::span<const DiskChange> changes, std::mt19937& random,
                           const std::filesystem::path& folder) {
    Disk(changes, random).lay_out(folder);
}

} // namespace weft::checkpoint::test
