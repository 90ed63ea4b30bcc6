#include "llm/curl_api.h"

#include "core/text.h"

namespace kw::llm::curl {
namespace {

Result<Api> bind(const os::Library& library) {
  Api api{};
  const bool whole = library.bind(api.global_init, "curl_global_init") &&
                     library.bind(api.easy_init, "curl_easy_init") &&
                     library.bind(api.easy_cleanup, "curl_easy_cleanup") &&
                     library.bind(api.easy_setopt, "curl_easy_setopt") &&
                     library.bind(api.easy_getinfo, "curl_easy_getinfo") &&
                     library.bind(api.easy_strerror, "curl_easy_strerror") &&
                     library.bind(api.multi_init, "curl_multi_init") &&
                     library.bind(api.multi_cleanup, "curl_multi_cleanup") &&
                     library.bind(api.multi_add_handle, "curl_multi_add_handle") &&
                     library.bind(api.multi_remove_handle, "curl_multi_remove_handle") &&
                     library.bind(api.multi_perform, "curl_multi_perform") &&
                     library.bind(api.multi_poll, "curl_multi_poll") &&
                     library.bind(api.multi_info_read, "curl_multi_info_read") &&
                     library.bind(api.slist_append, "curl_slist_append") &&
                     library.bind(api.slist_free_all, "curl_slist_free_all") &&
                     library.bind(api.version, "curl_version");
  if (!whole) {
    return environment_error(
        "{} is too old: libcurl 7.66 or newer is needed (Debian: apt-get install libcurl4)",
        library.path());
  }
  if (api.global_init(kGlobalAll) != kOk)
    return environment_error("{}: it does not start", library.path());
  return api;
}

}  // namespace

Result<Api> load(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    auto library = os::Library::open(name);
    if (!library) continue;
    auto api = bind(*library);
    library->leave_loaded();  // its TLS library registers handlers that run at exit
    return api;
  }
  return environment_error(
      "talking to a model needs libcurl, and none of {} can be loaded; install the package "
      "libcurl4 (Debian, Ubuntu) or libcurl (Fedora, Arch)",
      join(names, ", "));
}

}  // namespace kw::llm::curl
