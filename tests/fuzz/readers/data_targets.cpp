// SPDX-License-Identifier: Apache-2.0
// Data formats: opened as a run opens them, and some samples read.
#include "tests/fuzz/readers/targets.h"

#include "core/base/file.h"
#include "core/data/dataset.h"

#include <algorithm>

namespace weft::fuzz {
namespace {

namespace fs = std::filesystem;
using config::Json;

void read_samples(const Json& train) {
    data::OpenContext context;
    context.sequence_length = 16;
    const data::DataSet set = data::open_data({{"train", train}, {"validation", nullptr}}, context);
    const data::Source& source = *set.train;
    constexpr std::int64_t kMostBytes = 1 << 24;
    if (source.info().input.bytes() > kMostBytes || source.info().target.bytes() > kMostBytes) {
        return;
    }
    std::vector<std::byte> input(static_cast<std::size_t>(source.info().input.bytes()));
    std::vector<std::byte> target(static_cast<std::size_t>(source.info().target.bytes()));
    const std::int64_t count = std::min<std::int64_t>(source.samples(), 8);
    for (std::int64_t i = 0; i < count; ++i) {
        source.read(i * source.samples() / count, input, target);
    }
}

Target of_file(const char* type, const char* file, std::vector<std::string> seeds,
               Json settings = Json::object()) {
    return {type, file,
            [seeds = std::move(seeds)] {
                std::vector<std::string> out;
                for (const std::string& path : seeds) {
                    out.push_back(source_file("tests/data/peers/" + path));
                }
                return out;
            },
            [type = std::string(type), settings = std::move(settings)](std::string_view,
                                                                       const fs::path& path) {
                Json train = {{"type", type}, {"path", path.string()}};
                train.update(settings);
                read_samples(train);
            }};
}

/// Pixels and labels in one input: the first half of the file of each.
Target idx() {
    const std::string images("\0\0\x08\x03\0\0\0\x03\0\0\0\x02\0\0\0\x02"
                             "abcdefghijkl",
                             28);
    const std::string labels("\0\0\x08\x01\0\0\0\x03\x02\0\x01", 11);
    return {"idx", "both", [images, labels] { return std::vector<std::string>{images + labels}; },
            [](std::string_view input, const fs::path& path) {
                const std::size_t half = std::min<std::size_t>(input.size(), 28);
                const fs::path folder = path.parent_path();
                write_file_atomically(folder / "train-images-idx3-ubyte", input.substr(0, half));
                write_file_atomically(folder / "train-labels-idx1-ubyte", input.substr(half));
                read_samples({{"type", "idx"}, {"path", folder.string()}});
            }};
}

} // namespace

std::vector<Target> data_targets() {
    Target tar = of_file("images", "pictures.tar", {"ustar.tar", "pax.tar", "gnu.tar"});
    tar.name = "tar";
    Target csv = of_file("csv", "table.csv", {"quoted.csv"});
    csv.seeds = [] {
        return std::vector<std::string>{source_file("tests/data/peers/quoted.csv"),
                                        "a,b,label\n1,2.5,x\n3,4.5,y\n-1,0,x\n5,6,y\n",
                                        "when,price;\n2024-01-02,3\n2024-02-03,4\n"};
    };
    Target jsonl = of_file("jsonl", "lines.jsonl", {});
    jsonl.seeds = [] {
        return std::vector<std::string>{
            "{\"text\": \"a line of text, and more of it\"}\n{\"text\": \"another \\u00e9 "
            "line\"}\n",
            "{\"a\": 1, \"b\": 2.5, \"label\": \"x\"}\n{\"a\": 3, \"b\": 4, \"label\": \"y\"}\n"};
    };
    Target text = of_file("text", "book.txt", {});
    text.seeds = [] { return std::vector<std::string>{source_file("LICENSE").substr(0, 4000)}; };
    // Inputs and targets of one file: what a row is does not matter here.
    Target npy =
        of_file("npy", "array.npy", {"f4.npy", "i2_big.npy", "fortran.npy", "version3.npy"});
    npy.run = [](std::string_view, const fs::path& path) {
        read_samples({{"type", "npy"}, {"inputs", path.string()}, {"targets", path.string()}});
    };
    return {idx(),          std::move(npy),   of_file("hdf5", "data.h5", {"plain.h5", "packed.h5"}),
            std::move(csv), std::move(jsonl), std::move(tar),
            std::move(text)};
}

} // namespace weft::fuzz
