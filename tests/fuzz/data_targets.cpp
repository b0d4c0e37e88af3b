// SPDX-License-Identifier: Apache-2.0
// Data: recognised as a file that somebody drops on the studio, opened as it proposes, read here
// and there.
#include "core/base/error.h"
#include "core/data/files/image_codec.h"
#include "core/data/recognise.h"
#include "tests/fuzz/target.h"

#include <algorithm>
#include <set>
#include <span>

namespace weft::test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kContext = 8;

void read_here_and_there(const data::Source* source) {
    if (source == nullptr || source->samples() == 0) {
        return;
    }
    std::vector<std::byte> input(static_cast<std::size_t>(source->info().input.bytes()));
    std::vector<std::byte> target(static_cast<std::size_t>(source->info().target.bytes()));
    const std::int64_t last = source->samples() - 1;
    for (const std::int64_t index : std::set<std::int64_t>{0, 1, last / 2, last - 1, last}) {
        if (index < 0 || index > last) {
            continue;
        }
        try {
            source->read(index, input, target);
        } catch (const data::DamagedSample&) { // others go on
        }
        source->label(index);
        source->place_of(index);
    }
}

/// Every way to read it that is proposed; a refusal of one does not keep it from the others.
void read_as_data(const fs::path& path) {
    const data::OpenContext context{.sequence_length = kContext};
    for (const data::Recognised& way : data::recognise(path, context).formats) {
        if (!way.problems.empty()) {
            continue;
        }
        try {
            const data::DataSet set = data::open_data(way.data, context);
            read_here_and_there(set.train.get());
            read_here_and_there(set.validation.get());
            read_here_and_there(set.test.get());
        } catch (const Error&) { // refused
        }
    }
}

std::string little_endian(std::initializer_list<std::uint32_t> numbers) {
    std::string out;
    for (const std::uint32_t number : numbers) {
        for (int shift = 0; shift < 32; shift += 8) {
            out += static_cast<char>(number >> shift);
        }
    }
    return out;
}

std::vector<std::string> peers(std::initializer_list<const char*> names) {
    std::vector<std::string> out;
    for (const char* name : names) {
        out.push_back(file_of_tree(std::string("tests/data/peers/") + name));
    }
    return out;
}

/// Header of MNIST's files: a type, extents from the largest to the smallest byte, values.
std::string idx(std::initializer_list<int> extents, std::size_t values) {
    std::string out{'\0', '\0', '\x08', static_cast<char>(extents.size())};
    for (const int extent : extents) {
        out += {'\0', '\0', '\0', static_cast<char>(extent)};
    }
    for (std::size_t i = 0; i < values; ++i) {
        out += static_cast<char>(i % 10);
    }
    return out;
}

void read_idx(const std::string& bytes, const fs::path& folder) {
    put(folder, "train-labels-idx1-ubyte", idx({20}, 20));
    read_as_data(put(folder, "train-images-idx3-ubyte", bytes));
    // And the labels.
    put(folder, "train-images-idx3-ubyte", idx({20, 3, 3}, 180));
    put(folder, "train-labels-idx1-ubyte", bytes);
    read_as_data(folder / "train-images-idx3-ubyte");
}

std::vector<std::string> idx_seeds() {
    // The third is the first as gzip packs it (RFC 1952), by Python's gzip.
    return {idx({20, 3, 3}, 180), idx({20}, 20),
            file_of_tree("tests/fuzz/corpus/idx/packed-by-gzip")};
}

void read_npy(const std::string& bytes, const fs::path& folder) {
    const fs::path inputs = put(folder, "X.npy", bytes);
    put(folder, "y.npy", file_of_tree("tests/data/peers/labels.npy"));
    read_as_data(inputs);
}

std::vector<std::string> npy_seeds() {
    return peers({"f4.npy", "f2.npy", "f8_big.npy", "fortran.npy", "version3.npy", "flags.npy",
                  "objects.npy", "u1.npy", "i2_big.npy"});
}

void read_hdf5(const std::string& bytes, const fs::path& folder) {
    read_as_data(put(folder, "rows.h5", bytes));
}

std::vector<std::string> hdf5_seeds() {
    return peers({"plain.h5", "chunks.h5", "packed.h5", "zeros.h5"});
}

void read_csv(const std::string& bytes, const fs::path& folder) {
    read_as_data(put(folder, "table.csv", bytes));
}

std::vector<std::string> csv_seeds() {
    std::string mixed = "day;size;colour;price\n";
    std::string plain = "a,b,label\n";
    for (int i = 0; i < 40; ++i) {
        const std::string n = std::to_string(i);
        mixed += "2024-02-" + std::to_string(1 + i % 28) + ";" + n + ",5;" +
                 (i % 3 == 0 ? "red" : "blue") + ";" + (i % 7 == 0 ? "" : n) + "\n";
        plain += n + ",-" + n + "e-3," + std::to_string(i % 2) + "\n";
    }
    std::vector<std::string> out = peers({"quoted.csv"});
    out.push_back(mixed);
    out.push_back(plain);
    return out;
}

void read_jsonl(const std::string& bytes, const fs::path& folder) {
    read_as_data(put(folder, "texts.jsonl", bytes));
}

std::vector<std::string> jsonl_seeds() {
    std::string lines;
    for (int i = 0; i < 30; ++i) {
        lines += R"({"text": "A sentence of its own, and \u00e4 \ud83d\ude00 too.", "n": )" +
                 std::to_string(i) + R"(, "more": {"list": [1, 2.5e3, null, true]}})" + "\n";
    }
    std::string chats;
    for (int i = 0; i < 8; ++i) {
        chats += R"({"messages": [{"role": "user", "content": "Ask"}, )"
                 R"({"role": "assistant", "content": "Say \u00e4"}]})"
                 "\n"
                 R"({"conversations": [{"from": "human", "value": "Ask"}, )"
                 R"({"from": "gpt", "value": "Say"}]})"
                 "\n"
                 R"({"instruction": "Do", "input": "it", "output": "Done"})"
                 "\n";
    }
    return {lines, chats};
}

void read_text(const std::string& bytes, const fs::path& folder) {
    read_as_data(put(folder, "book.txt", bytes));
}

std::vector<std::string> text_seeds() {
    std::string text;
    for (int i = 0; i < 40; ++i) {
        text += "It is said that \xc3\xa4 and \xf0\x9f\x98\x80 are characters.\r\n";
    }
    return {text};
}

void read_tokens(const std::string& bytes, const fs::path& folder) {
    read_as_data(put(folder, "train.bin", bytes));
}

std::vector<std::string> tokens_seeds() {
    // 16 bits each: without a header as nanoGPT, with one of 256 numbers as llm.c writes them.
    std::string plain;
    for (int i = 0; i < 200; ++i) {
        plain += {static_cast<char>(i * 7), static_cast<char>(i % 40)};
    }
    std::string header = little_endian({20240520, 1, 200});
    header.resize(1024);
    return {plain, header + plain};
}

void read_tar(const std::string& bytes, const fs::path& folder) {
    read_as_data(put(folder, "shard.tar", bytes));
}

std::vector<std::string> tar_seeds() {
    return peers({"ustar.tar", "gnu.tar", "pax.tar"});
}

void read_image(const std::string& bytes, const fs::path& folder) {
    const auto file = std::as_bytes(std::span(bytes));
    for (const data::DecodeOptions& options :
         {data::DecodeOptions{},
          data::DecodeOptions{.channels = 1, .least_height = 4, .least_width = 4}}) {
        try {
            data::read_image_header(file, "image");
            data::decode_image(file, "image", options);
        } catch (const Error&) { // refused
        }
    }
    const bool is_png = bytes.starts_with("\x89PNG");
    read_as_data(put(folder, is_png ? "image.png" : "image.jpg", bytes));
}

std::vector<std::string> image_seeds() {
    return peers({"alpha.png", "grey16.png", "palette.png", "rgb.png", "small.png", "cmyk.jpg",
                  "grey.jpg", "rgb.jpg", "turned3.jpg", "turned6.jpg"});
}

} // namespace

const Target kIdxTarget{"idx", read_idx, idx_seeds, {}};
const Target kNpyTarget{"npy",
                        read_npy,
                        npy_seeds,
                        {"'descr': '<f4'", "'fortran_order': True", "'shape': (", "'|O'", "'>i8'",
                         "(4294967296, 4294967296)", "()", "(-1,)", "\x93NUMPY"}};
const Target kHdf5Target{
    "hdf5",
    read_hdf5,
    hdf5_seeds,
    {"OHDR", "OCHK", "TREE", "SNOD", "HEAP", "FRHP", "FADB", "BTHD", "\x89HDF\r\n\x1a\n"}};
const Target kCsvTarget{"csv",
                        read_csv,
                        csv_seeds,
                        {"\"", "\"\"", ";", ",", "\t", "\r\n", "nan", "inf", "NA", "1e400",
                         "\xef\xbb\xbf", "31/02/2024", "2024-13-41T25:61", std::string(1, '\0'),
                         "0x1p4"}};
const Target kJsonlTarget{"jsonl",
                          read_jsonl,
                          jsonl_seeds,
                          {"\\ud800", "\\u0000", "[[[[[[[[[[[[[[[[[[[[", "{\"a\":", "null", "1e999",
                           "\"text\": 7", "\n\n", "// comment\n"}};
const Target kTextTarget{"text",
                         read_text,
                         text_seeds,
                         {"\xff\xfe", "\xed\xa0\x80", "\xef\xbb\xbf", std::string(3, '\0'), "\r"}};
const Target kTokensTarget{
    "tokens", read_tokens, tokens_seeds, {little_endian({20240520}), little_endian({20240801})}};
const Target kTarTarget{"tar",
                        read_tar,
                        tar_seeds,
                        {"ustar", "GNU.sparse", "30 path=../../etc/passwd\n", "././@LongLink",
                         "77777777777", "99 size=99999999999999999999\n",
                         "\x80\xff\xff\xff\xff\xff"}};
const Target kImageTarget{"image",
                          read_image,
                          image_seeds,
                          {"IHDR", "PLTE", "tRNS", "IDAT", "iCCP", "zTXt", "acTL", "\xff\xd8",
                           "\xff\xc4", "\xff\xda", "\xff\xc0", "\xff\xc2", "\xff\xdd", "Exif", "MM",
                           "II*"}};

} // namespace weft::test
