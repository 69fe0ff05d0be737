/** What stands in front of a service, as Debian packages it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Prepare } from "../builders/packaged-server.ts";

export const FRONTS: { readonly [name: string]: Prepare } = {
  nginx({ folder, port, origin }) {
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map((name) => `${name}_temp_path ${folder}/${name};`)
      .join("\n");
    const settings = join(folder, "nginx.conf");
    writeFileSync(
      settings,
      `daemon off; user root; pid ${folder}/pid; error_log ${folder}/error.log;
      events {}
      http {
        access_log off; ${paths}
        proxy_cache_path ${folder}/cache keys_zone=catalog:1m;
        server {
          listen 127.0.0.1:${port};
          location / {
            proxy_pass ${origin.origin};
            proxy_http_version 1.1;
            proxy_cache catalog;
            proxy_cache_revalidate on;
          }
        }
      }`,
    );
    return ["nginx", "-c", settings];
  },
  varnish({ folder, port, origin }) {
    const settings = join(folder, "catalog.vcl");
    writeFileSync(
      settings,
      `vcl 4.1;
      backend service { .host = "${origin.hostname}"; .port = "${origin.port}"; }
      sub vcl_backend_response { set beresp.grace = 0s; set beresp.keep = 1h; }`,
    );
    // Otherwise it asks for gzip alone.
    const coding = ["-p", "http_gzip_support=off"];
    const work = ["-n", join(folder, "work"), "-s", "default,100m", "-j", "none"];
    return ["varnishd", "-F", "-a", `127.0.0.1:${port}`, "-f", settings, ...work, ...coding];
  },
  squid({ folder, port, origin }) {
    const settings = join(folder, "squid.conf");
    writeFileSync(
      settings,
      `http_port 127.0.0.1:${port} accel defaultsite=${origin.host}
      cache_peer ${origin.hostname} parent ${origin.port} 0 no-query originserver
      http_access allow all
      cache_mem 64 MB
      maximum_object_size_in_memory 8 MB
      memory_cache_shared off
      access_log none
      shutdown_lifetime 0 seconds
      cache_log /dev/null
      pid_filename none`,
    );
    return ["squid", "-N", "-f", settings];
  },
  haproxy({ folder, port, origin }) {
    const settings = join(folder, "haproxy.cfg");
    writeFileSync(
      settings,
      `cache catalog
        total-max-size 64
        max-object-size 8000000
        process-vary on
      defaults
        mode http
        timeout connect 60s
        timeout client 60s
        timeout server 60s
      listen front
        bind 127.0.0.1:${port}
        http-request cache-use catalog
        http-response cache-store catalog
        server service ${origin.host}\n`,
    );
    return ["haproxy", "-db", "-f", settings];
  },
};
