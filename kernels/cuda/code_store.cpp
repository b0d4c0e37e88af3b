// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/code_store.h"

#include "kernels/backend.h"
#include "kernels/cuda/module.h"
#include "kernels/philox.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <system_error>

namespace weft::kernels::cuda {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".cubin";

/// What a file begins with.
struct FileHead {
    std::uint64_t key_bytes, code_bytes;
    std::uint64_t sum; // of key and code
};

std::uint64_t sum_of(const std::string& key, const std::vector<char>& code) {
    return stream_hash(key) ^ stream_hash(std::string_view(code.data(), code.size()));
}

std::string file_name(const std::string& key) {
    char name[24];
    std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(stream_hash(key)));
    return std::string(name) + std::string(kEnding);
}

/// Beside the file that it will become: no other process or thread has the same.
std::string draft_of(const std::string& path) {
    static std::atomic<int> drafts{0};
    return path + "." + std::to_string(getpid()) + "-" + std::to_string(drafts++) + ".draft";
}

} // namespace

CodeStore::CodeStore(std::string folder, std::int64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error || access(folder_.c_str(), W_OK) != 0) {
        throw Failure{WEFT_LIBRARY_ERROR,
                      "generated kernels cannot be kept in " + folder_ +
                          ": it is no folder that can be written to; they are compiled anew in "
                          "every run"};
    }
}

std::vector<char> CodeStore::code(const std::string& key,
                                  const std::function<std::vector<char>()>& compile) const {
    std::vector<char> code = find(key);
    if (code.empty()) {
        code = compile();
        keep(key, code);
    }
    return code;
}

std::vector<char> CodeStore::find(const std::string& key) const {
    const std::string path = folder_ + "/" + file_name(key);
    std::vector<char> code = read(path, key);
    if (!code.empty()) {
        std::error_code ignored; // only how long the file is kept hangs on it
        fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
    }
    return code;
}

void CodeStore::keep(const std::string& key, const std::vector<char>& code) const {
    write(folder_ + "/" + file_name(key), key, code);
    make_room();
}

std::vector<char> CodeStore::read(const std::string& path, const std::string& key) const {
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> all((std::istreambuf_iterator<char>(in)), {});
    FileHead head{};
    const std::size_t before = sizeof head + key.size();
    if (all.size() < before) {
        return {};
    }
    std::memcpy(&head, all.data(), sizeof head);
    if (head.key_bytes != key.size() || head.code_bytes != all.size() - before ||
        std::memcmp(all.data() + sizeof head, key.data(), key.size()) != 0) {
        return {};
    }
    std::vector<char> code(all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
    return sum_of(key, code) == head.sum ? code : std::vector<char>();
}

void CodeStore::write(const std::string& path, const std::string& key,
                      const std::vector<char>& code) const {
    const FileHead head{key.size(), code.size(), sum_of(key, code)};
    const std::string draft = draft_of(path);
    std::ofstream out(draft, std::ios::binary);
    out.write(reinterpret_cast<const char*>(&head), sizeof head);
    out.write(key.data(), static_cast<std::streamsize>(key.size()));
    out.write(code.data(), static_cast<std::streamsize>(code.size()));
    out.close();
    std::error_code error;
    if (out) {
        fs::rename(draft, path, error);
    }
    if (!out || error) {
        fs::remove(draft, error);
    }
}

void CodeStore::make_room() const {
    struct Kept {
        fs::file_time_type used;
        std::int64_t bytes;
        fs::path path;
    };
    std::vector<Kept> files;
    std::int64_t bytes = 0;
    std::error_code error;
    for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
        std::error_code gone; // another process makes room, too
        Kept kept{it->last_write_time(gone), 0, it->path()};
        kept.bytes = static_cast<std::int64_t>(it->file_size(gone));
        if (!gone) {
            bytes += kept.bytes;
            files.push_back(std::move(kept));
        }
    }
    std::sort(files.begin(), files.end(),
              [](const Kept& a, const Kept& b) { return a.used < b.used; });
    for (std::size_t i = 0; i < files.size() && bytes > most_bytes_; ++i) {
        fs::remove(files[i].path, error);
        bytes -= files[i].bytes;
    }
}

namespace {

/// Of the process; null: nothing is kept.
struct StoreOfProcess {
    std::mutex mutex;
    std::shared_ptr<const CodeStore> store;
};

StoreOfProcess& store_of_process() {
    static StoreOfProcess chosen;
    return chosen;
}

void choose_store(std::shared_ptr<const CodeStore> store) {
    StoreOfProcess& chosen = store_of_process();
    const std::lock_guard lock(chosen.mutex);
    chosen.store = std::move(store);
}

} // namespace

std::shared_ptr<const CodeStore> chosen_store() {
    StoreOfProcess& chosen = store_of_process();
    const std::lock_guard lock(chosen.mutex);
    return chosen.store;
}

std::vector<char> stored_code(const std::string& key,
                              const std::function<std::vector<char>()>& compile) {
    const std::shared_ptr<const CodeStore> store = chosen_store();
    return store != nullptr ? store->code(key, compile) : compile();
}

} // namespace weft::kernels::cuda

extern "C" weft_status weft_cuda_set_cache_folder(const char* folder) {
    using namespace weft::kernels;
    constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;
    return at_edge([&] {
        cuda::choose_store(folder != nullptr && *folder != '\0'
                               ? std::make_shared<cuda::CodeStore>(folder, kMostBytes)
                               : nullptr);
        return WEFT_OK;
    });
}
