// SPDX-License-Identifier: Apache-2.0
#include "core/train/self_test/verdicts.h"

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/config/json.h"

#include <cstdio>

namespace weft::train {

std::filesystem::path Verdicts::path_of(const std::string& key) const {
    char name[24];
    std::snprintf(name, sizeof name, "%08x.json", static_cast<unsigned>(crc32c(key)));
    return folder_ / name;
}

std::optional<SelfTestResult> Verdicts::find(const std::string& key) const {
    constexpr std::int64_t kMostBytes = 1 << 20;
    std::error_code absent;
    if (folder_.empty() || !std::filesystem::exists(path_of(key), absent)) {
        return std::nullopt;
    }
    try {
        const auto document = config::Json::parse(read_file(path_of(key), kMostBytes));
        if (document.at("of") != key) { // another with the same sum
            return std::nullopt;
        }
        return SelfTestResult{document.at("passed").get<bool>(), document.at("cases").get<int>(),
                              document.at("seconds").get<double>(),
                              document.at("failure").get<std::string>()};
    } catch (const Error&) {
    } catch (const config::Json::exception&) {
    }
    return std::nullopt;
}

void Verdicts::keep(const std::string& key, const SelfTestResult& result) const {
    if (folder_.empty()) {
        return;
    }
    const config::Json document{{"of", key},
                                {"passed", result.passed},
                                {"cases", result.cases},
                                {"seconds", result.seconds},
                                {"failure", result.failure}};
    try {
        make_directories(folder_);
        write_file_atomically(path_of(key), document.dump(2) + "\n");
    } catch (const Error&) {
    }
}

} // namespace weft::train
