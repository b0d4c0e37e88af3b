// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/source_tree.h"

#include "tests/architecture/arrows.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace weft::test {
namespace {

namespace fs = std::filesystem;

const Arrows* entry_of(const std::vector<Arrows>& table, std::string_view file) {
    const auto found = std::find_if(table.begin(), table.end(), [&](const Arrows& entry) {
        return file.starts_with(entry.folder);
    });
    return found == table.end() ? nullptr : &*found;
}

bool starts_with_any(std::string_view path, const std::vector<std::string_view>& prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view prefix) { return path.starts_with(prefix); });
}

bool is_qt(const std::string& header) {
    static const std::regex kQt("Q[A-Z].*|Qt[A-Z].*|qcustomplot.*|q[a-z]+\\.h");
    return std::regex_match(header, kQt);
}

bool is_vendor(const std::string& header) {
    static const std::regex kVendor(
        "(oneapi/|dnnl|mkl|cuda|cublas|cudnn|cufft|curand|nccl|nvml|nvrtc|hip/|rccl|omp\\.h|"
        "immintrin\\.h|xbyak/|CL/).*");
    return std::regex_match(header, kVendor);
}

std::string system_reason(const std::string& file, const std::string& header) {
    const bool engine =
        file.starts_with("core/") || file.starts_with("kernels/") || file.starts_with("app/cli/");
    if (engine && is_qt(header)) {
        return "Qt is for widgets, ui and app/studio only";
    }
    if (!file.starts_with("kernels/") && is_vendor(header)) {
        return "vendor headers are for kernels only";
    }
    const bool hdf5 = header.starts_with("hdf5") || header.starts_with("H5");
    if (hdf5 && !file.starts_with("core/base/hdf5_")) {
        return "libhdf5 is for core/base/hdf5_*.cpp only";
    }
    if (header.starts_with("CLI/") && file != "app/cli/command_line.cpp") {
        return "CLI11 is for app/cli/command_line.cpp only";
    }
    if (header.starts_with("nlohmann/") && file != "core/config/json.h") {
        return "nlohmann's JSON is for core/config/json.h only";
    }
    return {};
}

SourceFile read_source(const fs::path& root, const fs::path& path) {
    std::ifstream stream(path);
    std::ostringstream text;
    text << stream.rdbuf();
    SourceFile out;
    out.path = fs::relative(path, root).generic_string();
    const std::string content = text.str();
    out.lines = static_cast<int>(std::count(content.begin(), content.end(), '\n'));
    const std::string first = content.substr(0, content.find('\n'));
    // "/*" in headers that C compilers read.
    static const std::regex kMark(R"(^/[/*] SPDX-License-Identifier: (\S+)( \*/)?$)");
    std::smatch match;
    if (std::regex_match(first, match, kMark)) {
        out.licence = match[1].str();
    }
    out.includes = includes_of(content);
    out.private_names = private_names_of(content);
    if (path.extension() == ".h") {
        out.declared_names = declared_names_of(content);
    }
    return out;
}

} // namespace

std::vector<Include> includes_of(const std::string& text) {
    static const std::regex kInclude(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
    std::vector<Include> out;
    std::istringstream stream(text);
    std::string line;
    for (int number = 1; std::getline(stream, line); ++number) {
        std::smatch match;
        if (std::regex_search(line, match, kInclude)) {
            out.push_back({number, match[2].str(), match[1].str() == "\""});
        }
    }
    return out;
}

std::vector<std::string> declared_names_of(const std::string& text) {
    static const std::regex kDeclared(R"(^[A-Za-z\[][^=({"]*[ &*](\w+)\(.*)");
    std::set<std::string> names;
    std::istringstream stream(text);
    std::string line;
    while (std::getline(stream, line)) {
        std::smatch match;
        if (std::regex_match(line, match, kDeclared)) {
            names.insert(match[1].str());
        }
    }
    return {names.begin(), names.end()};
}

std::vector<std::string> private_names_of(const std::string& text) {
    static const std::regex kType(R"(^(?:struct|class|enum|enum class) (\w+) [:{].*)");
    static const std::regex kConstant(
        R"(^(?:inline |static )?const(?:expr)? [^=({]*\b(k[A-Z]\w*)\b.*)");
    static const std::regex kFunction(R"(^[A-Za-z\[][^=({"]*[ &*](\w+)\(.*)");
    std::vector<std::string> out;
    std::istringstream stream(text);
    std::string line;
    bool inside = false;
    while (std::getline(stream, line)) {
        inside = line == "namespace {" || (inside && line != "} // namespace");
        std::smatch match;
        if (inside &&
            (std::regex_match(line, match, kType) || std::regex_match(line, match, kConstant) ||
             std::regex_match(line, match, kFunction))) {
            out.push_back(match[1].str());
        }
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

std::vector<SourceFile> read_sources(const std::vector<std::string>& folders) {
    const fs::path root = WEFT_SOURCE_DIR;
    std::vector<SourceFile> out;
    for (const std::string& folder : folders) {
        if (!fs::exists(root / folder)) {
            continue;
        }
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            const std::string extension = entry.path().extension().string();
            if (extension == ".h" || extension == ".cpp" || extension == ".c" ||
                extension == ".in") {
                out.push_back(read_source(root, entry.path()));
            }
        }
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    return out;
}

std::string forbidden_reason(const std::string& file, const Include& include) {
    const std::string& header = include.path;
    if (std::string reason = system_reason(file, header); !reason.empty()) {
        return reason;
    }
    if (!include.quoted) {
        return {};
    }
    const Arrows* entry = entry_of(allowed_arrows(), file);
    if (entry == nullptr) {
        return "the folder is not in the table of tests/architecture/arrows.h";
    }
    if (header.starts_with("tests/")) {
        return "the product does not include its tests";
    }
    if (header.find('/') == std::string::npos) {
        return "includes of our own start at the repository's root";
    }
    const Arrows* never = entry_of(forbidden_arrows(), file);
    const bool common = file.starts_with("core/") && starts_with_any(header, common_headers());
    const bool allowed =
        common || header.starts_with(entry->folder) || starts_with_any(header, entry->may_include);
    if (!allowed || (never != nullptr && starts_with_any(header, never->may_include))) {
        return std::string(entry->folder) + " may not see " + header;
    }
    return {};
}

} // namespace weft::test
