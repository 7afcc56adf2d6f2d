"""What of this process's own environment a command may see: only what is named."""

import os
from collections.abc import Iterable, Mapping

INDEX_NAMES = frozenset(
    {
        *("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
        *("HOME", "NETRC", "XDG_CACHE_HOME", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME"),
        *("REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE"),
    }
)


def own_environment() -> dict[str, str]:
    """Copy the environment this process was started with."""
    return dict(os.environ)


def passthrough(environment: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Pick the named variables out of `environment`; names that are not set are left out."""
    return {name: environment[name] for name in names if name in environment}


def index_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Pick what pip needs to reach its indexes: settings, proxies, certificates."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith("PIP_") or name.upper() in INDEX_NAMES
    }
