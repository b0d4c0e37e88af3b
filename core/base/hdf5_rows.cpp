// SPDX-License-Identifier: Apache-2.0
#include "core/base/hdf5_rows.h"

#include "core/base/check.h"
#include "core/base/hdf5_library.h"
#include "core/base/stage_meter.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include <zlib.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace weft {
namespace {

using hdf5::fail_foreign;
using hdf5::Handle;
using hdf5::Library;
using hdf5::library_reason;

constexpr int64_t kMostChunkElements = int64_t{1} << 28;
constexpr int64_t kMostElementBytes = 16; // long double
constexpr std::size_t kChecksumBytes = 4;

using Bytes = std::vector<std::byte>;

/// A chunk as it lies in the file.
struct Packed {
    Bytes bytes;
    uint32_t left_out = 0; // bit k: filter k was not applied
};

/// Of the pipeline's filters, in the order in which they were applied; nothing where the library
/// has to undo one.
std::optional<std::vector<H5Z_filter_t>> known_filters(hid_t creation) {
    std::vector<H5Z_filter_t> out;
    const int count = H5Pget_nfilters(creation);
    for (int i = 0; i < count; ++i) {
        unsigned flags = 0;
        size_t values = 0;
        const H5Z_filter_t filter = H5Pget_filter2(creation, static_cast<unsigned>(i), &flags,
                                                   &values, nullptr, 0, nullptr, nullptr);
        if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE &&
            filter != H5Z_FILTER_FLETCHER32) {
            return std::nullopt;
        }
        out.push_back(filter);
    }
    return out;
}

/// Fletcher's checksum of 16-bit words, high byte first, modulo 65,535 (Fletcher 1982), as HDF5
/// stores it.
uint32_t fletcher32(std::span<const std::byte> bytes) {
    constexpr std::size_t kWordsUnfolded = 360; // sums stay below 2^32
    uint32_t low = 0;
    uint32_t high = 0;
    const auto byte = [&](std::size_t at) {
        return at < bytes.size() ? std::to_integer<uint32_t>(bytes[at]) : 0;
    };
    const auto fold = [](uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
    const std::size_t words = (bytes.size() + 1) / 2;
    for (std::size_t begin = 0; begin < words; begin += kWordsUnfolded) {
        for (std::size_t i = begin; i < std::min(words, begin + kWordsUnfolded); ++i) {
            low += byte(2 * i) << 8 | byte(2 * i + 1);
            high += low;
        }
        low = fold(low);
        high = fold(high);
    }
    return fold(high) << 16 | fold(low);
}

/// Takes the checksum off; false when it is wrong.
bool undo_fletcher32(Bytes& bytes) {
    if (bytes.size() < kChecksumBytes) {
        return false;
    }
    uint32_t stored = 0;
    std::memcpy(&stored, bytes.data() + bytes.size() - kChecksumBytes, kChecksumBytes);
    bytes.resize(bytes.size() - kChecksumBytes);
    return fletcher32(bytes) == stored;
}

/// RFC 1950; false when it is damaged or more than `most` bytes come out.
bool undo_deflate(Bytes& bytes, std::size_t most) {
    Bytes out(most);
    auto size = static_cast<uLongf>(most);
    if (uncompress(reinterpret_cast<Bytef*>(out.data()), &size,
                   reinterpret_cast<const Bytef*>(bytes.data()),
                   static_cast<uLong>(bytes.size())) != Z_OK) {
        return false;
    }
    out.resize(size);
    bytes.swap(out);
    return true;
}

#if defined(__SSE2__)
constexpr std::size_t kTogether = sizeof(__m128i); // elements whose bytes are turned at once

struct FourVectors {
    __m128i at[4];
};

/// Bytes `begin` to `begin` + 3 of 16 elements from `first` on, side by side, four elements each.
FourVectors four_bytes(const std::byte* planes, std::size_t count, std::size_t begin,
                       std::size_t first) {
    const auto plane = [&](std::size_t k) {
        return _mm_loadu_si128(
            reinterpret_cast<const __m128i*>(planes + (begin + k) * count + first));
    };
    const __m128i low01 = _mm_unpacklo_epi8(plane(0), plane(1));
    const __m128i high01 = _mm_unpackhi_epi8(plane(0), plane(1));
    const __m128i low23 = _mm_unpacklo_epi8(plane(2), plane(3));
    const __m128i high23 = _mm_unpackhi_epi8(plane(2), plane(3));
    return {{_mm_unpacklo_epi16(low01, low23), _mm_unpackhi_epi16(low01, low23),
             _mm_unpacklo_epi16(high01, high23), _mm_unpackhi_epi16(high01, high23)}};
}

/// Of elements of 4 or 8 bytes as many as there are by sixteens; how many these are.
std::size_t turn_together(const std::byte* planes, std::size_t count, std::size_t element,
                          std::byte* out) {
    if (element != 4 && element != 8) {
        return 0;
    }
    std::size_t first = 0;
    for (; first + kTogether <= count; first += kTogether) {
        auto* to = reinterpret_cast<__m128i*>(out + first * element);
        const auto low = four_bytes(planes, count, 0, first);
        if (element == 4) {
            for (const __m128i& four : low.at) {
                _mm_storeu_si128(to++, four);
            }
            continue;
        }
        const auto high = four_bytes(planes, count, 4, first);
        for (std::size_t i = 0; i < 4; ++i) {
            _mm_storeu_si128(to++, _mm_unpacklo_epi32(low.at[i], high.at[i]));
            _mm_storeu_si128(to++, _mm_unpackhi_epi32(low.at[i], high.at[i]));
        }
    }
    return first;
}
#else
std::size_t turn_together(const std::byte*, std::size_t, std::size_t, std::byte*) {
    return 0;
}
#endif

/// All first bytes of the elements, all second bytes... become elements; what is left over stays.
void undo_shuffle(Bytes& bytes, std::size_t element) {
    const std::size_t count = bytes.size() / element;
    Bytes out(bytes.size());
    const std::size_t done = turn_together(bytes.data(), count, element, out.data());
    for (std::size_t k = 0; k < element; ++k) {
        const std::byte* from = bytes.data() + k * count;
        for (std::size_t i = done; i < count; ++i) {
            out[i * element + k] = from[i];
        }
    }
    std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(count * element), bytes.end(),
              out.begin() + static_cast<std::ptrdiff_t>(count * element));
    bytes.swap(out);
}

} // namespace

struct Hdf5Rows::State {
    Path path;
    Hdf5Array array;
    std::optional<Handle> file;    // closed under the library's lock
    std::optional<Handle> dataset; // the same
    std::optional<Handle> stored_type; // where elements are read as another; closed under the lock
    int64_t stored_bytes = 1;          // of an element
    int64_t element_bytes = 1;         // as it is read
    int64_t row_bytes = 1;
    int64_t file_bytes = 0;
    std::vector<int64_t> chunk;                       // empty: not chunked
    uint64_t fill = 0; // the bytes of an element that was never written, low ones first
    std::optional<std::vector<H5Z_filter_t>> filters; // nothing: the library unpacks

    State(const Path& from, const Hdf5Array& what) : path(from), array(what) {
        WEFT_CHECK(array.problem.empty() && !array.shape.empty(), "an array that can be read");
        file_bytes = File(path, File::Mode::read, ErrorKind::data).size();
        element_bytes = hdf5_type_bytes(array.type);
        row_bytes = array.bytes / array.shape.front();
        const Library library;
        Handle opened = hdf5::open_foreign(path);
        Handle found = hdf5::open_foreign(opened, path, array);
        read_layout(found);
        file.emplace(std::move(opened));
        dataset.emplace(std::move(found));
    }

    ~State() {
        const Library library;
        stored_type.reset();
        dataset.reset();
        file.reset();
    }

    void read_layout(hid_t found) {
        const Handle creation(H5Dget_create_plist(found), H5Pclose);
        std::vector<hsize_t> extents(array.shape.size());
        if (!creation.valid() || H5Pget_layout(creation) != H5D_CHUNKED ||
            H5Pget_chunk(creation, static_cast<int>(extents.size()), extents.data()) !=
                static_cast<int>(extents.size())) {
            return;
        }
        int64_t elements = 1;
        for (const hsize_t extent : extents) {
            if (extent == 0 || extent > static_cast<hsize_t>(kMostChunkElements) ||
                __builtin_mul_overflow(elements, static_cast<int64_t>(extent), &elements) ||
                elements > kMostChunkElements) {
                fail_foreign(path, array.name,
                             "its chunks have more than " + format_thousands(kMostChunkElements) +
                                 " elements",
                             "Write it again with smaller chunks (h5repack -l CHUNK=...).");
            }
            chunk.push_back(static_cast<int64_t>(extent));
        }
        Handle type(H5Dget_type(found), H5Tclose);
        stored_bytes = static_cast<int64_t>(H5Tget_size(type));
        if (stored_bytes < 1 || stored_bytes > kMostElementBytes) {
            fail_foreign(path, array.name, "its elements have an impossible size",
                         hdf5::kUnreadableHint);
        }
        filters = known_filters(creation);
        if (H5Pget_fill_value(creation, hdf5::memory_type(array.type), &fill) < 0) {
            fill = 0;
        }
        if (H5Tequal(type, hdf5::memory_type(array.type)) <= 0) {
            stored_type.emplace(std::move(type));
        }
    }

    std::size_t chunk_elements() const {
        return static_cast<std::size_t>(
            std::accumulate(chunk.begin(), chunk.end(), int64_t{1}, std::multiplies<>()));
    }
    /// As it is stored, unpacked.
    std::size_t chunk_bytes() const {
        return chunk_elements() * static_cast<std::size_t>(stored_bytes);
    }

    [[noreturn]] void fail_chunk(const std::vector<int64_t>& begin, const std::string& text) const {
        std::string at;
        for (const int64_t place : begin) {
            at += (at.empty() ? "" : ", ") + std::to_string(place);
        }
        fail_foreign(path, array.name, "its chunk at [" + at + "] " + text, hdf5::kUnreadableHint);
    }

    /// Nothing where the chunk was never written.
    std::optional<Packed> fetch(const std::vector<int64_t>& begin) const {
        const InStage reading(Stage::read);
        const std::vector<hsize_t> at(begin.begin(), begin.end());
        const Library library;
        hsize_t size = 0;
        if (H5Dget_chunk_storage_size(*dataset, at.data(), &size) < 0 || size == 0) {
            const std::string reason = library_reason();
            haddr_t place = HADDR_UNDEF;
            if (H5Dget_chunk_info_by_coord(*dataset, at.data(), nullptr, &place, &size) < 0 ||
                place != HADDR_UNDEF) {
                fail_chunk(begin, "cannot be found: " + reason);
            }
            return std::nullopt;
        }
        if (size > static_cast<hsize_t>(file_bytes)) {
            fail_chunk(begin, "reaches past the end of the file");
        }
        Packed out;
        out.bytes.resize(size);
        if (H5Dread_chunk(*dataset, H5P_DEFAULT, at.data(), &out.left_out, out.bytes.data()) < 0) {
            fail_chunk(begin, "cannot be read: " + library_reason());
        }
        return out;
    }

    /// The elements of a chunk, also those outside the array; empty where it was never written.
    Bytes unpacked(const std::vector<int64_t>& begin) const {
        const InStage decoding(Stage::decode);
        std::optional<Packed> packed = fetch(begin);
        if (!packed) {
            return {};
        }
        if (chunk_bytes() / hdf5::kBestRatio > packed->bytes.size()) {
            fail_chunk(begin, "announces more data than it can hold");
        }
        // What comes out of a filter is a chunk, and checksums that are still to be taken off.
        const std::size_t most = chunk_bytes() + kChecksumBytes * filters->size();
        for (std::size_t i = filters->size(); i-- > 0;) {
            const H5Z_filter_t filter = (*filters)[i];
            if ((packed->left_out >> i & 1) != 0) {
                continue;
            }
            if (filter == H5Z_FILTER_FLETCHER32 && !undo_fletcher32(packed->bytes)) {
                fail_chunk(begin, "does not match its checksum");
            }
            if (filter == H5Z_FILTER_DEFLATE && !undo_deflate(packed->bytes, most)) {
                fail_chunk(begin, "cannot be decompressed");
            }
            if (filter == H5Z_FILTER_SHUFFLE) {
                undo_shuffle(packed->bytes, static_cast<std::size_t>(stored_bytes));
            }
        }
        if (packed->bytes.size() != chunk_bytes()) {
            fail_chunk(begin, "has " +
                                  format_thousands(static_cast<int64_t>(packed->bytes.size())) +
                                  " bytes instead of " +
                                  format_thousands(static_cast<int64_t>(chunk_bytes())));
        }
        convert(begin, packed->bytes);
        return std::move(packed->bytes);
    }

    /// The elements of a chunk, as they are read.
    void convert(const std::vector<int64_t>& begin, Bytes& elements) const {
        if (!stored_type) {
            return;
        }
        const auto larger = static_cast<std::size_t>(std::max(stored_bytes, element_bytes));
        elements.resize(chunk_elements() * larger);
        const Library library;
        if (H5Tconvert(*stored_type, hdf5::memory_type(array.type), chunk_elements(),
                       elements.data(), nullptr, H5P_DEFAULT) < 0) {
            fail_chunk(begin, "cannot be converted: " + library_reason());
        }
    }

    void read_by_library(int64_t first, int64_t count, std::byte* out) const {
        const InStage reading(Stage::read);
        const Library library;
        if (!hdf5::read_rows(*dataset, array, first, count, out)) {
            fail_foreign(path, array.name, "it cannot be read: " + library_reason(),
                         hdf5::kNoFilterHint);
        }
    }

    /// The part of a chunk that lies in rows [first, first + count), to its places in `out`, which
    /// begins with row `first`. No elements: the value that the file names for what was never
    /// written.
    void place(const Bytes& elements, const std::vector<int64_t>& begin, int64_t first,
               int64_t count, std::byte* out) const {
        const std::size_t rank = chunk.size();
        std::vector<int64_t> low(rank, 0);
        std::vector<int64_t> high(rank);
        for (std::size_t d = 0; d < rank; ++d) {
            high[d] = std::min(chunk[d], array.shape[d] - begin[d]);
        }
        low[0] = std::max<int64_t>(0, first - begin[0]);
        high[0] = std::min(high[0], first + count - begin[0]);
        // Elements that lie side by side in both: the last dimension, and those before it as long
        // as the ones after are whole.
        std::size_t inner = rank - 1;
        int64_t together = high[inner] - low[inner];
        while (inner > 0 && chunk[inner] == array.shape[inner]) {
            --inner;
            together *= high[inner] - low[inner];
        }
        std::vector<int64_t> at = low;
        while (true) {
            int64_t from = 0;
            int64_t to = 0;
            for (std::size_t d = 0; d < rank; ++d) {
                from = from * chunk[d] + at[d];
                to = to * array.shape[d] + begin[d] + at[d] - (d == 0 ? first : 0);
            }
            if (!elements.empty()) {
                std::memcpy(out + to * element_bytes, elements.data() + from * element_bytes,
                            static_cast<std::size_t>(together * element_bytes));
            }
            for (int64_t i = to; elements.empty() && i < to + together; ++i) {
                std::memcpy(out + i * element_bytes, &fill,
                            static_cast<std::size_t>(element_bytes));
            }
            std::size_t d = inner;
            while (d > 0 && ++at[d - 1] == high[d - 1]) {
                at[d - 1] = low[d - 1];
                --d;
            }
            if (d == 0) {
                return;
            }
        }
    }

    void read_chunks(int64_t first, int64_t count, std::byte* out) const {
        std::vector<int64_t> begin(chunk.size(), 0);
        begin[0] = first / chunk[0] * chunk[0];
        while (begin[0] < first + count) {
            place(unpacked(begin), begin, first, count, out);
            std::size_t d = chunk.size() - 1;
            begin[d] += chunk[d];
            while (d > 0 && begin[d] >= array.shape[d]) {
                begin[d] = 0;
                --d;
                begin[d] += chunk[d];
            }
        }
    }
};

Hdf5Rows::Hdf5Rows(const Path& path, const Hdf5Array& array)
    : state_(std::make_unique<State>(path, array)) {}

Hdf5Rows::~Hdf5Rows() = default;

int64_t Hdf5Rows::rows_together() const {
    return state_->chunk.empty() ? 1 : state_->chunk.front();
}

std::span<const int64_t> Hdf5Rows::chunk() const {
    return state_->chunk;
}

void Hdf5Rows::read(int64_t first, int64_t count, std::span<std::byte> out) const {
    WEFT_CHECK(first >= 0 && count >= 0 && first + count <= state_->array.shape.front(),
               "rows within the array");
    WEFT_CHECK(static_cast<int64_t>(out.size()) == count * state_->row_bytes,
               "the rows fill their buffer");
    if (count == 0) {
        return;
    }
    if (state_->chunk.empty() || !state_->filters) {
        state_->read_by_library(first, count, out.data());
    } else {
        state_->read_chunks(first, count, out.data());
    }
}

} // namespace weft
