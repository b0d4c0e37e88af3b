// SPDX-License-Identifier: Apache-2.0
// Looks for inputs that a reader does not survive. The input under way lies in a file, so that it
// is there after a crash.
#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/fuzz/readers/mutator.h"
#include "tests/fuzz/readers/targets.h"

#include <CLI/CLI.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace {

namespace fs = std::filesystem;
using namespace weft::fuzz;

constexpr unsigned kMostSeconds = 10; // for one input
constexpr std::size_t kMostInputs = 400;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void limit_memory() {
    const rlimit most{rlim_t{4} << 30, rlim_t{4} << 30};
    setrlimit(RLIMIT_AS, &most);
}
#else
void limit_memory() {} // ASAN_OPTIONS=max_allocation_size_mb=4096
#endif

/// What was wrong; empty: a result or a weft::Error.
std::string problem_of(const Target& target, const std::string& input, const fs::path& path,
                       bool& accepted) {
    try {
        target.run(input, path);
        accepted = true;
    } catch (const weft::Error&) {
        accepted = false;
    } catch (const std::exception& fault) {
        return std::string("an exception of another kind: ") + fault.what();
    }
    return {};
}

int look(const Target& target, int seconds, std::uint64_t seed, const fs::path& keep) {
    const fs::path folder = keep / (target.name + "-now");
    fs::create_directories(folder);
    const fs::path path = folder / target.file;
    std::vector<std::string> inputs = target.seeds();
    for (std::string& known : source_files("tests/fuzz/corpus/" + target.name)) {
        inputs.push_back(std::move(known));
    }
    Mutator mutator(seed);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    std::int64_t runs = 0;
    std::int64_t taken = 0;
    int findings = 0;
    for (; std::chrono::steady_clock::now() < end; ++runs) {
        const std::string input = mutator.changed(inputs);
        {
            std::ofstream file(path, std::ios::binary | std::ios::trunc);
            file << input;
        }
        bool accepted = false;
        alarm(kMostSeconds); // ends the program, the input stays
        const std::string problem = problem_of(target, input, path, accepted);
        alarm(0);
        if (!problem.empty()) {
            const fs::path kept = keep / (target.name + "-" + std::to_string(seed) + "-" +
                                          std::to_string(++findings));
            fs::copy_file(path, kept, fs::copy_options::overwrite_existing);
            std::printf("%s: %s\n", kept.c_str(), problem.c_str());
        }
        taken += accepted ? 1 : 0;
        if (accepted && inputs.size() < kMostInputs && runs % 8 == 0) {
            inputs.push_back(input);
        }
    }
    fs::remove_all(folder);
    std::printf("%s: %lld inputs, %lld of them accepted, %d findings\n", target.name.c_str(),
                static_cast<long long>(runs), static_cast<long long>(taken), findings);
    return findings;
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Looks for inputs that a reader of files does not survive");
    std::string name;
    int seconds = 120;
    std::uint64_t seed = 1;
    std::string keep = ".";
    app.add_option("target", name, "reader, or all")->required();
    app.add_option("--seconds", seconds, "for each reader")->envname("WEFT_FUZZ_SECONDS");
    app.add_option("--seed", seed, "another seed, other inputs");
    app.add_option("--keep", keep, "folder for findings");
    CLI11_PARSE(app, argc, argv);
    limit_memory();
    int findings = 0;
    bool found = false;
    for (const Target& target : all_targets()) {
        if (name == "all" || name == target.name) {
            found = true;
            findings += look(target, seconds, seed, keep);
        }
    }
    if (!found) {
        std::fprintf(stderr, "There is no reader %s.\n", name.c_str());
        return 2;
    }
    return findings == 0 ? 0 : 1;
}
