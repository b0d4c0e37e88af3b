// SPDX-License-Identifier: Apache-2.0
#include "core/data/files/tar_members.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace weft::data {
namespace {

constexpr std::int64_t kTarBlock = 512;
constexpr std::int64_t kLongestTarName = 1 << 20;
constexpr const char* kDamagedTarHint = "The archive is damaged or incomplete; copy it again.";

using TarHeader = std::array<char, kTarBlock>;

std::string_view tar_field(const TarHeader& header, std::size_t begin, std::size_t bytes) {
    const std::string_view all(header.data() + begin, bytes);
    return all.substr(0, std::min(all.find('\0'), all.size()));
}

/// Octal digits between blanks; or, with the first bit set, the bytes of a number. Nothing:
/// neither.
std::optional<std::int64_t> tar_number(const TarHeader& header, std::size_t begin,
                                       std::size_t bytes) {
    if ((static_cast<unsigned char>(header[begin]) & 0x80) != 0) {
        std::int64_t value = static_cast<unsigned char>(header[begin]) & 0x3f;
        for (std::size_t i = begin + 1; i < begin + bytes; ++i) {
            if (value >> 54 != 0) {
                return std::nullopt;
            }
            value = value << 8 | static_cast<unsigned char>(header[i]);
        }
        return value;
    }
    const std::string_view text = trim(tar_field(header, begin, bytes));
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value, 8);
    if (text.empty()) {
        return 0;
    }
    const bool is_number = read.ec == std::errc() && read.ptr == text.data() + text.size();
    return is_number ? std::optional(value) : std::nullopt;
}

/// The sum of all bytes, those of the sum itself as blanks.
bool has_right_sum(const TarHeader& header) {
    constexpr std::size_t kSumBegin = 148;
    constexpr std::size_t kSumBytes = 8;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < header.size(); ++i) {
        const bool is_sum = i >= kSumBegin && i < kSumBegin + kSumBytes;
        sum += is_sum ? ' ' : static_cast<unsigned char>(header[i]);
    }
    return tar_number(header, kSumBegin, kSumBytes) == sum;
}

bool is_blank(const TarHeader& header) {
    return std::all_of(header.begin(), header.end(), [](char byte) { return byte == '\0'; });
}

class TarReader {
public:
    explicit TarReader(const Path& path)
        : path_(path), file_(path, File::Mode::read, ErrorKind::data), size_(file_.size()) {}

    std::vector<TarMember> members() {
        std::vector<TarMember> out;
        TarHeader header;
        while (at_ + kTarBlock <= size_) {
            file_.read_at(std::as_writable_bytes(std::span(header)), at_);
            if (is_blank(header)) { // the end; what follows is padding
                break;
            }
            read_member(header, out);
        }
        return out;
    }

private:
    [[noreturn]] void fail(const std::string& text) const {
        throw Error(ErrorKind::data, path_.string() + ", byte " + format_thousands(at_), text,
                    kDamagedTarHint);
    }

    void read_member(const TarHeader& header, std::vector<TarMember>& out) {
        if (!has_right_sum(header)) {
            fail("there is no header of a member");
        }
        const char type = header[156];
        std::optional<std::int64_t> bytes = tar_number(header, 124, 12);
        if (type != 'x' && next_bytes_) {
            bytes = std::exchange(next_bytes_, std::nullopt);
        }
        const std::int64_t content = at_ + kTarBlock;
        if (!bytes || *bytes < 0 || *bytes > size_ - content) {
            fail("a member reaches past the end of the archive");
        }
        if (type == 'x' || type == 'L') {
            read_extension(type, content, *bytes);
        } else {
            std::string name = next_name_.empty() ? plain_name(header) : std::move(next_name_);
            next_name_.clear();
            if (type == '0' || type == '\0' || type == '7') {
                out.push_back({std::move(name), content, *bytes});
            }
        }
        at_ = content + (*bytes + kTarBlock - 1) / kTarBlock * kTarBlock;
    }

    static std::string plain_name(const TarHeader& header) {
        const std::string name(tar_field(header, 0, 100));
        const bool is_posix = tar_field(header, 257, 6) == "ustar";
        const std::string_view prefix = is_posix ? tar_field(header, 345, 155) : "";
        return prefix.empty() ? name : std::string(prefix) + "/" + name;
    }

    /// What is said of the next member: its name, in pax also its size.
    void read_extension(char type, std::int64_t offset, std::int64_t bytes) {
        if (bytes > kLongestTarName) {
            fail("the name of a member has " + format_thousands(bytes) + " bytes");
        }
        std::string text(static_cast<std::size_t>(bytes), '\0');
        file_.read_at(std::as_writable_bytes(std::span(text)), offset);
        if (type == 'L') {
            next_name_ = text.substr(0, text.find('\0'));
            return;
        }
        // "27 path=a/b.jpg\n": its own length, a blank, a key, a value.
        for (std::size_t begin = 0; begin < text.size();) {
            std::size_t length = 0;
            const auto read =
                std::from_chars(text.data() + begin, text.data() + text.size(), length);
            const auto digits = static_cast<std::size_t>(read.ptr - text.data()) - begin;
            if (read.ec != std::errc() || length < digits + 2 || length > text.size() - begin) {
                fail("a pax header is damaged");
            }
            read_pax(std::string_view(text).substr(begin + digits + 1, length - digits - 2));
            begin += length;
        }
    }

    void read_pax(std::string_view record) {
        if (record.starts_with("path=")) {
            next_name_ = record.substr(5);
        } else if (record.starts_with("size=")) {
            std::int64_t bytes = -1;
            std::from_chars(record.data() + 5, record.data() + record.size(), bytes);
            next_bytes_ = bytes;
        }
    }

    const Path& path_;
    File file_;
    std::int64_t size_;
    std::int64_t at_ = 0;
    std::string next_name_;
    std::optional<std::int64_t> next_bytes_;
};

} // namespace

bool looks_like_tar(const Path& path) {
    const File file(path, File::Mode::read, ErrorKind::data);
    TarHeader header;
    if (file.size() < kTarBlock) {
        return false;
    }
    file.read_at(std::as_writable_bytes(std::span(header)), 0);
    return !is_blank(header) && has_right_sum(header);
}

std::vector<TarMember> list_tar(const Path& path) {
    return TarReader(path).members();
}

} // namespace weft::data
