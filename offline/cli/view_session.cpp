// SPDX-License-Identifier: Apache-2.0
#include "offline/cli/view_session.h"

#include <array>
#include <cstdio>
#include <cstdlib>

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

}  // namespace

ViewSecrets new_view_secrets() {
  return {random_hex(), random_hex()};
}

ViewAnswer answer_view(const ViewRequest& request, const ViewSecrets& secrets, int port) {
  if (!is_own_host(request.host, port)) return {403};
  if (!request.origin.empty() && request.origin != "http://" + std::string(request.host))
    return {403};
  if (request.fetch_site == "cross-site") return {403};
  if (request.method != "GET" && request.method != "HEAD") return {405};
  if (request.path != "/") return {404};
  if (!request.token.empty())
    return same_secret(request.token, secrets.token) ? ViewAnswer{303, false, true}
                                                     : ViewAnswer{401};
  return has_cookie(request.cookie, secrets.cookie) ? ViewAnswer{200, true, false}
                                                    : ViewAnswer{401};
}

}  // namespace drgpum
