// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who may see the page that `drgpum view` serves: a pure function from a request to an answer.

#include <cstdint>
#include <string>
#include <string_view>

namespace drgpum {

// 128 random bits each, as 32 hexadecimal digits.
struct ViewSecrets {
  std::string token;   // in the URL that is printed; buys the cookie
  std::string cookie;  // kept by the browser, not readable by scripts
};
// From the kernel's random numbers.
ViewSecrets new_view_secrets();

struct ViewRequest {
  std::string_view method;
  std::string_view path;   // decoded, without the query
  std::string_view token;  // the query's `t`; empty when there is none
  std::string_view host;   // header fields; empty when there are none
  std::string_view origin;
  std::string_view fetch_site;  // Sec-Fetch-Site
  std::string_view cookie;
};

enum class ViewPart : std::uint8_t { kNothing, kPage, kPiece, kCalls };

struct ViewAnswer {
  int status = 404;
  ViewPart part = ViewPart::kNothing;  // else a line of text
  bool gives_cookie = false;           // with a redirection to "/"
  std::uint32_t program = 0;           // kCalls
  std::uint32_t number = 0;            // kPiece, kCalls
  bool by_level = false;               // kCalls
};

// Only GET and HEAD give anything: of "/" the page, of "/pieces/3" a piece of its data, of
// "/calls/0/order/3" and "/calls/0/level/3" a page of a program's calls. The host must be 127.0.0.1
// or localhost with the port; an origin must be the same; a browser must ask from the page itself
// or for its user; the cookie opens all, the token buys the cookie. Wrong method 405, foreign host
// or origin 403, no cookie 401, another path 404.
ViewAnswer answer_view(const ViewRequest& request, const ViewSecrets& secrets, int port);

}  // namespace drgpum
