// SPDX-License-Identifier: Apache-2.0
// Machine code of generated kernels in files, so that it is compiled once and not once in every
// process, and what else takes time to find (fastest_way.h). A file holds all that its code hangs
// on, the code, and a sum of both; one that does not hold together, or was cut short, counts as
// none.
#pragma once

#include "kernels/op.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft::kernels::cuda {

class CodeStore {
public:
    /// In a folder, which is made. Throws Failure where it cannot be written to.
    CodeStore(std::string folder, std::int64_t most_bytes);

    /// The code of `key`, or what `compile` makes, which is kept. Any thread, any number of
    /// processes. What goes wrong with a file costs no more than time.
    std::vector<char> code(const std::string& key,
                           const std::function<std::vector<char>()>& compile) const;
    /// What was kept; empty: nothing.
    std::vector<char> find(const std::string& key) const;
    /// Where all files together are too large, those that were used longest ago go.
    void keep(const std::string& key, const std::vector<char>& code) const;

private:
    std::vector<char> read(const std::string& path, const std::string& key) const;
    void write(const std::string& path, const std::string& key,
               const std::vector<char>& code) const;
    void make_room() const;

    std::string folder_;
    std::int64_t most_bytes_;
};

/// The store that weft_cuda_set_cache_folder has chosen; null: nothing is kept.
std::shared_ptr<const CodeStore> chosen_store();
/// From that store, if any.
std::vector<char> stored_code(const std::string& key,
                              const std::function<std::vector<char>()>& compile);

} // namespace weft::kernels::cuda
