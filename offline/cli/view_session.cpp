// SPDX-License-Identifier: Apache-2.0
#include "offline/cli/view_session.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <sys/random.h>

namespace drgpum {
namespace {

std::string random_hex() {
  std::array<unsigned char, 16> bytes{};
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::getrandom(bytes.data() + have, bytes.size() - have, 0);
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

// Takes the same time wherever the two differ.
bool same_secret(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size() || secret.empty()) return false;
  unsigned differing = 0;
  for (std::size_t i = 0; i < secret.size(); ++i)
    differing |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(secret[i]);
  return differing == 0;
}

bool is_own_host(std::string_view host, int port) {
  const std::string end = ":" + std::to_string(port);
  return host == "127.0.0.1" + end || host == "localhost" + end;
}

bool has_cookie(std::string_view header, std::string_view secret) {
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(';'), header.size());
    std::string_view one = header.substr(0, end);
    while (!one.empty() && one.front() == ' ')
      one.remove_prefix(1);
    constexpr std::string_view kName = "drgpum_view=";
    if (one.starts_with(kName) && same_secret(one.substr(kName.size()), secret)) return true;
    header.remove_prefix(std::min(end + 1, header.size()));
  }
  return false;
}

// Of the page itself, of the user (an address typed or clicked in a terminal), or of no browser.
bool is_own_site(std::string_view fetch_site) {
  return fetch_site.empty() || fetch_site == "none" || fetch_site == "same-origin";
}

// Takes "/" and digits off the front; nullopt when there are none, or too many.
std::optional<std::uint32_t> take_number(std::string_view& path) {
  std::uint32_t value = 0;
  if (path.size() < 2 || path.front() != '/') return std::nullopt;
  const auto [end, error] = std::from_chars(path.data() + 1, path.data() + path.size(), value);
  if (error != std::errc()) return std::nullopt;
  path.remove_prefix(static_cast<std::size_t>(end - path.data()));
  return value;
}

bool take(std::string_view& path, std::string_view word) {
  if (!path.starts_with(word)) return false;
  path.remove_prefix(word.size());
  return true;
}

// What a path names; it names nothing but places in what is open, so that no path leads to a file.
ViewAnswer part_of(std::string_view path) {
  ViewAnswer found{200, ViewPart::kNothing};
  if (path == "/") return {200, ViewPart::kPage};
  if (take(path, "/pieces")) {
    const auto number = take_number(path);
    if (number && path.empty()) found = {200, ViewPart::kPiece, false, 0, *number};
  } else if (take(path, "/calls")) {
    const auto program = take_number(path);
    const bool by_level = take(path, "/level");
    const bool is_known = by_level || take(path, "/order");
    const auto number = take_number(path);
    if (program && is_known && number && path.empty())
      found = {200, ViewPart::kCalls, false, *program, *number, by_level};
  }
  return found;
}

}  // namespace

ViewSecrets new_view_secrets() {
  return {random_hex(), random_hex()};
}

ViewAnswer answer_view(const ViewRequest& request, const ViewSecrets& secrets, int port) {
  if (!is_own_host(request.host, port)) return {403};
  if (!request.origin.empty() && request.origin != "http://" + std::string(request.host))
    return {403};
  if (!is_own_site(request.fetch_site)) return {403};
  if (request.method != "GET" && request.method != "HEAD") return {405};
  const ViewAnswer asked = part_of(request.path);
  if (asked.part == ViewPart::kNothing) return {404};
  if (asked.part == ViewPart::kPage && !request.token.empty()) {
    if (!same_secret(request.token, secrets.token)) return {401};
    return {303, ViewPart::kNothing, true};
  }
  return has_cookie(request.cookie, secrets.cookie) ? asked : ViewAnswer{401};
}

}  // namespace drgpum
