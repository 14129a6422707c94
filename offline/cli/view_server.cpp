// SPDX-License-Identifier: Apache-2.0
#include "offline/cli/view_server.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <httplib.h>
#include <unistd.h>

#include "offline/cli/load_report.h"
#include "offline/cli/verbs.h"
#include "offline/cli/view_session.h"

namespace drgpum {
namespace {

void add_guards(httplib::Response& response) {
  response.set_header("Content-Security-Policy",
                      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                      "img-src data: blob:; worker-src blob:; connect-src 'self'; "
                      "base-uri 'none'; "
                      "form-action 'none'; frame-ancestors 'none'");
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("X-Frame-Options", "DENY");
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("Cross-Origin-Resource-Policy", "same-origin");
  response.set_header("Cross-Origin-Opener-Policy", "same-origin");
  response.set_header("Cache-Control", "no-store");
}

constexpr std::string_view kBinary = "application/octet-stream";

void give(const ViewAnswer& asked, const ViewSource& source, httplib::Response& response) {
  std::optional<std::string> data;
  if (asked.part == ViewPart::kPage)
    return response.set_content(source.html(), "text/html; charset=utf-8");
  if (asked.part == ViewPart::kCalls) {
    data = source.calls_page(asked.program, asked.number, asked.by_level);
  } else if (asked.number < source.pieces().size()) {
    data = source.pieces()[asked.number];
  }
  if (data) return response.set_content(*std::move(data), kBinary.data());
  response.status = 404;
}

void answer(const httplib::Request& request, httplib::Response& response, const ViewSource& source,
            const ViewSecrets& secrets, int port) {
  const std::string token = request.has_param("t") ? request.get_param_value("t") : "";
  const std::string host = request.get_header_value("Host");
  const std::string origin = request.get_header_value("Origin");
  const std::string site = request.get_header_value("Sec-Fetch-Site");
  const std::string cookie = request.get_header_value("Cookie");
  const ViewAnswer it =
      answer_view({request.method, request.path, token, host, origin, site, cookie}, secrets, port);
  response.status = it.status;
  add_guards(response);
  if (it.gives_cookie) {
    response.set_header("Set-Cookie",
                        "drgpum_view=" + secrets.cookie + "; HttpOnly; SameSite=Strict; Path=/");
    response.set_header("Location", "/");
  } else if (it.part != ViewPart::kNothing) {
    give(it, source, response);
  } else {
    response.set_content("This is not for you. Open the address that drgpum view printed.\n",
                         "text/plain; charset=utf-8");
  }
}

void open_browser(const std::string& url) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return;
  const pid_t child = ::fork();
  if (child == 0) {
    ::execlp("xdg-open", "xdg-open", url.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
}

}  // namespace

int serve_page(const ViewSource& source, const ViewOptions& options) {
  const ViewSecrets secrets = new_view_secrets();
  int port = options.port;
  httplib::Server server;
  server.set_payload_max_length(4096);
  server.set_read_timeout(10);
  server.set_keep_alive_max_count(20);
  server.set_pre_routing_handler([&](const httplib::Request& request, httplib::Response& response) {
    answer(request, response, source, secrets, port);
    return httplib::Server::HandlerResponse::Handled;
  });
  if (port == 0) {
    port = server.bind_to_any_port("127.0.0.1");
  } else if (!server.bind_to_port("127.0.0.1", port)) {
    port = -1;
  }
  if (port < 0)
    return fail("view",
                {ErrorCode::kIo, "port " + std::to_string(options.port) +
                                     " on 127.0.0.1 cannot be taken; leave --port out for a free "
                                     "one"});
  const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/?t=" + secrets.token;
  std::printf("%s\n", url.c_str());
  std::fflush(stdout);
  std::fputs("drgpum view: serving to this machine; Ctrl+C ends it\n", stderr);
  if (options.opens_browser) open_browser(url);
  return server.listen_after_bind() ? kExitOk : kExitUnreadable;
}

}  // namespace drgpum
