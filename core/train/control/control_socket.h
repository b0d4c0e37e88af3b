// SPDX-License-Identifier: Apache-2.0
// Where the sockets of running processes lie, and what is common to both ends of one.
#pragma once

#include <filesystem>
#include <string>

namespace weft::train {

/// The longest line that either end sends or takes; longer ones are refused.
constexpr std::size_t kMostControlLineBytes = std::size_t{1} << 20;

/// The private folder of sockets: `<runtime>/weft`, or `<temp>/weft-<user id>` where there is no
/// runtime folder or its name leaves no room for a socket's (108 bytes in all). Made with mode
/// 0700. Throws weft::Error{runtime} when neither can be had, or somebody else owns it.
std::filesystem::path control_folder(const std::filesystem::path& runtime,
                                     const std::filesystem::path& temp);

/// A free name in that folder for this process. What processes left behind that were killed is
/// removed.
std::filesystem::path free_control_path(const std::filesystem::path& folder);

/// A listening socket of mode 0600, not blocking. A socket file that nobody listens at is replaced.
/// Throws weft::Error{usage}, or {runtime} when no descriptor is left.
int listen_at(const std::filesystem::path& path);

/// A connection, not blocking; -1 when nobody listens there or it is forbidden (errno says which).
int connect_to(const std::filesystem::path& path);

} // namespace weft::train
