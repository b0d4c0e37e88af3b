// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/emulation/ranks_apart.h"

#include <algorithm>
#include <fstream>

namespace weft::test {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(std::string group) {
    std::ranges::replace(group, ' ', '-');
    return fs::temp_directory_path() / group;
}

template <typename T>
void write_value(std::ofstream& out, const T& value) {
    out.write(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
T read_value(std::ifstream& in) {
    T value{};
    in.read(reinterpret_cast<char*>(&value), sizeof value);
    return value;
}

/// Nobody sees it before it is whole.
template <typename Fn>
void write_whole(const fs::path& file, const Fn& fn) {
    const fs::path unfinished = file.string() + ".unfinished";
    {
        std::ofstream out(unfinished, std::ios::binary);
        fn(out);
    }
    fs::rename(unfinished, file);
}

} // namespace

RanksApart::RanksApart(const std::string& group, int size)
    : folder_(folder_of(group)), size_(size) {
    fs::create_directories(folder_);
}

fs::path RanksApart::file(const std::string& part, std::int64_t number, int place) const {
    return folder_ / (part + "." + std::to_string(number) + "." + std::to_string(place));
}

void RanksApart::join(int rank) const {
    write_whole(file("join", 0, rank), [](std::ofstream&) {});
}

bool RanksApart::all_joined() const {
    return all_gave("join", 0, size_);
}

void RanksApart::give(const std::string& part, std::int64_t number, int place,
                      const Gift& gift) const {
    fs::remove(file(part, number - 2, place));
    write_whole(file(part, number, place), [&](std::ofstream& out) {
        write_value(out, gift.call);
        write_value(out, gift.list.size());
        for (std::size_t i = 0; i < gift.list.size(); ++i) {
            write_value(out, gift.list[i]);
            write_value(out, gift.bytes[i].size());
            out.write(reinterpret_cast<const char*>(gift.bytes[i].data()),
                      static_cast<std::streamsize>(gift.bytes[i].size()));
        }
    });
}

bool RanksApart::all_gave(const std::string& part, std::int64_t number, int places) const {
    for (int place = 0; place < places; ++place) {
        if (!fs::exists(file(part, number, place))) {
            return false;
        }
    }
    return true;
}

Gift RanksApart::gift_of(const std::string& part, std::int64_t number, int place) const {
    std::ifstream in(file(part, number, place), std::ios::binary);
    Gift out;
    out.call = read_value<weft_collective_call>(in);
    out.list.resize(read_value<std::size_t>(in));
    for (weft_transfer& one : out.list) {
        one = read_value<weft_transfer>(in);
        auto& bytes = out.bytes.emplace_back(read_value<std::size_t>(in));
        in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    return out;
}

} // namespace weft::test
