// SPDX-License-Identifier: Apache-2.0
#include "core/data/files/npy_header.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

namespace weft::data {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::int64_t kLongestHeader = 1 << 20;
constexpr const char* kDamagedNpyHint =
    "The file is damaged or incomplete; write it again with numpy.save.";

[[noreturn]] void fail_npy(const Path& path, const std::string& text, const std::string& hint) {
    throw Error(ErrorKind::data, path.string(), text, hint);
}

std::string read_text(const File& file, std::int64_t offset, std::int64_t bytes) {
    std::string out(static_cast<std::size_t>(bytes), '\0');
    file.read_at(std::as_writable_bytes(std::span(out)), offset);
    return out;
}

/// The Python literal {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class Literal {
public:
    Literal(const Path& path, std::string_view text) : path_(path), text_(text) {}

    NpyHeader read() {
        NpyHeader out;
        std::optional<std::string> descr;
        bool has_order = false;
        bool has_shape = false;
        expect('{');
        while (!accept('}')) {
            const std::string key = quoted();
            expect(':');
            if (key == "descr") {
                descr = peek() == '\'' || peek() == '"' ? quoted() : std::string();
                if (descr->empty()) {
                    fail_npy(path_, "it holds records of several fields",
                             "Save each field as an array of its own.");
                }
            } else if (key == "fortran_order") {
                out.fortran_order = word() == "True";
                has_order = true;
            } else if (key == "shape") {
                out.shape = tuple();
                has_shape = true;
            } else {
                damaged("an unknown key");
            }
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        if (!descr || !has_order || !has_shape) {
            damaged("a key is missing");
        }
        read_element(*descr, out);
        return out;
    }

private:
    [[noreturn]] void damaged(const char* what) const {
        fail_npy(path_, "its header is damaged: " + std::string(what) + " in " + shown(text_, 100),
                 kDamagedNpyHint);
    }

    char peek() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) {
            ++at_;
        }
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool accept(char character) {
        if (peek() != character) {
            return false;
        }
        ++at_;
        return true;
    }
    void expect(char character) {
        if (!accept(character)) {
            damaged("a mark is missing");
        }
    }
    std::string quoted() {
        const char quote = peek();
        if (quote != '\'' && quote != '"') {
            damaged("a name is missing");
        }
        const std::size_t end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) {
            damaged("a quote is open");
        }
        std::string out(text_.substr(at_ + 1, end - at_ - 1));
        at_ = end + 1;
        return out;
    }
    std::string word() {
        peek();
        const std::size_t begin = at_;
        while (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])) != 0) {
            ++at_;
        }
        return std::string(text_.substr(begin, at_ - begin));
    }
    std::vector<std::int64_t> tuple() {
        std::vector<std::int64_t> out;
        expect('(');
        while (!accept(')')) {
            peek();
            std::int64_t value = -1;
            const auto read =
                std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
            if (read.ec != std::errc() || value < 0) {
                damaged("a bad extent");
            }
            at_ = static_cast<std::size_t>(read.ptr - text_.data());
            accept('L'); // Python 2 wrote 3L
            out.push_back(value);
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        return out;
    }

    void read_element(const std::string& descr, NpyHeader& out) const {
        constexpr std::array<std::pair<std::string_view, Element>, 12> kTypes = {{
            {"u1", Element::u1},
            {"u2", Element::u2},
            {"u4", Element::u4},
            {"u8", Element::u8},
            {"i1", Element::i1},
            {"i2", Element::i2},
            {"i4", Element::i4},
            {"i8", Element::i8},
            {"f2", Element::f2},
            {"f4", Element::f4},
            {"f8", Element::f8},
            {"b1", Element::b1},
        }};
        const bool marked =
            descr.size() == 3 && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
        const std::string_view type = std::string_view(descr).substr(marked ? 1 : 0);
        const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                        [type](const auto& entry) { return entry.first == type; });
        if (found == kTypes.end()) {
            const bool objects = descr.find('O') != std::string::npos;
            fail_npy(path_,
                     objects ? "it holds Python objects, which only Python can read"
                             : "its elements are '" + shown(descr) + "', no plain numbers",
                     "Convert it first, e.g. array.astype('float32').");
        }
        out.element = found->second;
        out.big_endian = marked && descr[0] == '>';
    }

    const Path& path_;
    std::string_view text_;
    std::size_t at_ = 0;
};

/// Elements in the order of C, from those in the order of Fortran.
std::vector<std::byte> row_major(const std::vector<std::byte>& columns,
                                 const std::vector<std::int64_t>& shape, std::size_t size) {
    std::vector<std::byte> out(columns.size());
    const std::size_t count = out.size() / size;
    for (std::size_t to = 0; to < count; ++to) {
        std::size_t from = 0;
        std::size_t rest = to;
        std::size_t left = count; // elements below one index of the dimensions so far, in C
        std::size_t stride = 1;   // of a dimension, in Fortran
        for (const std::int64_t extent : shape) {
            left /= static_cast<std::size_t>(extent);
            from += rest / left * stride;
            rest %= left;
            stride *= static_cast<std::size_t>(extent);
        }
        std::memcpy(out.data() + to * size, columns.data() + from * size, size);
    }
    return out;
}

} // namespace

bool looks_like_npy(const Path& path) {
    const File file(path, File::Mode::read, ErrorKind::data);
    const auto magic = static_cast<std::int64_t>(kMagic.size());
    return file.size() > magic && read_text(file, 0, magic) == kMagic;
}

NpyHeader read_npy_header(const Path& path) {
    const File file(path, File::Mode::read, ErrorKind::data);
    const std::int64_t size = file.size();
    if (size < 12) {
        fail_npy(path, "the file ends within its header, at byte " + std::to_string(size),
                 kDamagedNpyHint);
    }
    const std::string begin = read_text(file, 0, 12);
    if (!begin.starts_with(kMagic)) {
        fail_npy(path, "this is no .npy file", "Save the array with numpy.save.");
    }
    const int version = static_cast<unsigned char>(begin[6]);
    if (version < 1 || version > 3) {
        fail_npy(path, "its format version is " + std::to_string(version) + "; 1 to 3 are known",
                 kDamagedNpyHint);
    }
    const int length_bytes = version == 1 ? 2 : 4;
    std::int64_t length = 0;
    for (int i = length_bytes; i-- > 0;) {
        length = length << 8 | static_cast<unsigned char>(begin[static_cast<std::size_t>(8 + i)]);
    }
    const std::int64_t offset = 8 + length_bytes + length;
    if (length > kLongestHeader || offset > size) {
        fail_npy(path,
                 "its header of " + format_thousands(length) +
                     " bytes reaches past the end of "
                     "the file",
                 kDamagedNpyHint);
    }
    const std::string text = read_text(file, 8 + length_bytes, length);
    NpyHeader out = Literal(path, text).read();
    out.offset = offset;
    std::int64_t bytes = element_bytes(out.element);
    for (const std::int64_t extent : out.shape) {
        if (__builtin_mul_overflow(bytes, extent, &bytes)) {
            fail_npy(path, "its shape is impossibly large", kDamagedNpyHint);
        }
    }
    if (bytes != size - offset) {
        fail_npy(path,
                 "its header announces " + format_thousands(bytes) + " bytes of elements, but " +
                     format_thousands(size - offset) + " follow",
                 kDamagedNpyHint);
    }
    return out;
}

std::int64_t npy_memory_bytes(const NpyHeader& header) {
    const bool turned = header.fortran_order && header.shape.size() > 1;
    std::int64_t bytes = turned ? element_bytes(header.element) : 0;
    for (const std::int64_t extent : header.shape) {
        bytes *= extent;
    }
    return bytes;
}

ArrayData open_npy(const Path& path, LoadArray load) {
    NpyHeader header = read_npy_header(path);
    ArrayData out;
    out.name = path.string();
    out.element = header.element;
    out.big_endian = header.big_endian;
    out.shape = header.shape;
    out.offset = header.offset;
    out.file = File(path, File::Mode::read, ErrorKind::data);
    if (const std::int64_t bytes = npy_memory_bytes(header); bytes > 0 && load == LoadArray::yes) {
        std::vector<std::byte> columns(static_cast<std::size_t>(bytes));
        out.file.read_at(columns, header.offset);
        out.memory = row_major(columns, header.shape,
                               static_cast<std::size_t>(element_bytes(header.element)));
    }
    return out;
}

} // namespace weft::data
