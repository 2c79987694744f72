//! The page, which was built into the binary: running it takes no other file.

use axum::Router;
use axum::http::header;
use axum::routing::get;

/// What `web/` is built into: path, type, content. `make web` builds it anew.
const FILES: [(&str, &str, &[u8]); 4] = [
    ("/", "text/html; charset=utf-8", include_bytes!("../../../../web/dist/index.html")),
    ("/app.js", "text/javascript; charset=utf-8", include_bytes!("../../../../web/dist/app.js")),
    ("/app.css", "text/css; charset=utf-8", include_bytes!("../../../../web/dist/app.css")),
    ("/icon.svg", "image/svg+xml", include_bytes!("../../../../web/dist/icon.svg")),
];

pub(super) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    FILES.into_iter().fold(Router::new(), |router, (path, kind, content)| {
        // Another version may answer next time under the same name.
        let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")];
        router.route(path, get(async move || (headers, content)))
    })
}
