// SPDX-License-Identifier: Apache-2.0
// bench_data <file.h5> [--rows N] [--workers N]
//
// Writes rows of 16 f32 and a class (i64) once, 100 million unless told otherwise, and compares a
// shuffled pass of the loader over them with one plain read() of the same bytes in the same run:
// warm (the file lies in the page cache) and cold (posix_fadvise DONTNEED). Whoever takes the
// batches does nothing with them.
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/hdf5_file.h"
#include "core/base/philox.h"
#include "core/base/text.h"
#include "core/data/loader.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace weft;

namespace {

constexpr std::int64_t kFeatures = 16;
constexpr std::int64_t kBatch = 4096;
constexpr std::int64_t kWrittenRows = 1 << 16;

void write_rows(const Path& path, std::int64_t rows) {
    const std::vector<Hdf5Spec> specs = {{"x", Hdf5Type::f32, {rows, kFeatures}},
                                         {"y", Hdf5Type::i64, {rows}}};
    const std::vector<Hdf5Dataset> placed = create_hdf5(path, specs);
    File file(path, File::Mode::read_write);
    std::vector<float> inputs(kWrittenRows * kFeatures);
    std::vector<std::int64_t> targets(kWrittenRows);
    for (std::int64_t first = 0; first < rows; first += kWrittenRows) {
        const std::int64_t count = std::min(kWrittenRows, rows - first);
        for (std::size_t i = 0; i < targets.size(); ++i) {
            const auto row = static_cast<std::uint64_t>(first) + i;
            targets[i] = static_cast<std::int64_t>(mix_bits(row) % 10);
            for (std::uint64_t k = 0; k < kFeatures; ++k) { // 12 bits each: gzip takes about half
                inputs[i * kFeatures + k] =
                    static_cast<float>(mix_bits(row * kFeatures + k) % 4096) / 64;
            }
        }
        const auto count_of = static_cast<std::size_t>(count);
        file.write_at(std::as_bytes(std::span(inputs).first(count_of * kFeatures)),
                      placed[0].offset + first * kFeatures * 4);
        file.write_at(std::as_bytes(std::span(targets).first(count_of)),
                      placed[1].offset + first * 8);
    }
    file.sync();
}

void forget(const Path& path) {
    const int file = ::open(path.c_str(), O_RDONLY);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
}

double seconds() {
    return SystemClock().steady_s();
}

double cpu_seconds() {
    struct rusage usage = {};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto of = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return of(usage.ru_utime) + of(usage.ru_stime);
}

std::int64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::int64_t pages = 0;
    file >> pages >> pages;
    return pages * ::sysconf(_SC_PAGESIZE);
}

struct Pass {
    double seconds = 0, cpu_seconds = 0, waited_s = 0;
    std::int64_t rows = 0, most_resident = 0, window_bytes = 0;
    StageSeconds stages{};
};

/// One thread, a megabyte at a time: what a plain program would do.
Pass read_all(const Path& path) {
    const int file = ::open(path.c_str(), O_RDONLY);
    std::vector<char> buffer(1 << 20);
    const double start = seconds();
    const double cpu = cpu_seconds();
    while (::read(file, buffer.data(), buffer.size()) > 0) {
    }
    ::close(file);
    return {.seconds = seconds() - start, .cpu_seconds = cpu_seconds() - cpu};
}

Pass load_all(const data::DataSet& set, int workers) {
    data::LoaderOptions options;
    options.batch_size = kBatch;
    options.endless = false;
    options.workers = workers;
    options.prefetch = 8;
    const data::Sampler sampler(*set.train, true, 1);
    Pass out;
    out.window_bytes = sampler.window_rows() * (kFeatures * 4 + 4);
    const double start = seconds();
    const double cpu = cpu_seconds();
    data::Loader loader(set.train, sampler, options, {});
    int batches = 0;
    while (const data::Batch* batch = loader.next()) {
        out.waited_s += loader.last_wait_ms() / 1000;
        out.rows += batch->samples;
        if (++batches % 256 == 0) {
            out.most_resident = std::max(out.most_resident, resident_bytes());
        }
    }
    out.seconds = seconds() - start;
    out.cpu_seconds = cpu_seconds() - cpu;
    out.stages = loader.use().stages;
    return out;
}

data::DataSet open_rows(const Path& path) {
    const config::Json train = {{"type", "hdf5"},
                                {"path", path.string()},
                                {"inputs", "x"},
                                {"targets", "y"},
                                {"scale", "none"}};
    config::Json section = {{"train", train}, {"validation", nullptr}, {"cache", "none"}};
    section = config::check_fields(section, data::data_fields(), "/data").value;
    return data::open_data(section, {});
}

void compare(const Path& path, const char* state, bool cold, int workers,
             std::int64_t resident_before, const data::DataSet& set) {
    const auto begin = [&] {
        if (cold) {
            forget(path);
        }
    };
    begin();
    const Pass plain = read_all(path);
    begin();
    const Pass pass = load_all(set, workers);
    const auto rows = static_cast<double>(pass.rows);
    std::printf("%s, %d workers: read() %.2f s (%.2f GB/s), loader %.2f s (%.1f M rows/s), ratio "
                "%.3f\n",
                state, workers, plain.seconds,
                static_cast<double>(std::filesystem::file_size(path)) / plain.seconds * 1e-9,
                pass.seconds, rows / pass.seconds * 1e-6, plain.seconds / pass.seconds);
    std::printf("    CPU per row %.1f ns, of read() %.1f ns; waited %.1f %% of the time; %.1f MiB "
                "resident beyond one window of %.1f MiB\n",
                pass.cpu_seconds / rows * 1e9, plain.cpu_seconds / rows * 1e9,
                100 * pass.waited_s / pass.seconds,
                static_cast<double>(pass.most_resident - resident_before - pass.window_bytes) /
                    (1 << 20),
                static_cast<double>(pass.window_bytes) / (1 << 20));
    const auto stage = [&](Stage which) {
        return pass.stages[static_cast<std::size_t>(which)] / rows * 1e9;
    };
    std::printf(
        "    thread time per row: reading %.1f ns, decoding %.1f, scaling %.1f, placing %.1f\n",
        stage(Stage::read), stage(Stage::decode), stage(Stage::transform), stage(Stage::batch));
    std::fflush(stdout);
}

} // namespace

int main(int count, char** words) {
    if (count < 2 || words[1][0] == '-') {
        std::fputs("bench_data <file.h5> [--rows N] [--workers N]\n", stderr);
        return 2;
    }
    const Path path = words[1];
    std::int64_t rows = 100'000'000;
    int workers = 2;
    for (int i = 2; i + 1 < count; i += 2) {
        const std::string option = words[i];
        if (option == "--rows") {
            rows = std::atoll(words[i + 1]);
        } else if (option == "--workers") {
            workers = std::atoi(words[i + 1]);
        }
    }
    try {
        if (!std::filesystem::exists(path)) {
            write_rows(path, rows);
        }
        const std::int64_t resident_before = resident_bytes();
        const double start = seconds();
        const data::DataSet set = open_rows(path);
        std::printf("opened %s samples in %.2f s\n", format_thousands(set.train->samples()).c_str(),
                    seconds() - start);
        for (int again = 0; again < 3; ++again) {
            compare(path, "warm", false, workers, resident_before, set);
        }
        compare(path, "cold", true, workers, resident_before, set);
    } catch (const Error& error) {
        std::fprintf(stderr, "%s: %s\n", error.where().c_str(), error.message().c_str());
        return 1;
    }
    return 0;
}
