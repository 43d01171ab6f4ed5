/** Where a Redis listens, in the words of ioredis: `new Redis(connection)`. */
export interface RedisConnection {
  readonly host?: string;
  readonly port?: number;
  /** A unix socket; then there is no host and no port. */
  readonly path?: string;
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
  readonly tls?: Record<string, never>;
}

/** A Redis a test may talk to. `url` and `connection` name the same server. */
export interface RedisHandle {
  /** `redis://host:port`, or the path of a unix socket: both are good for `new Redis(url)`. */
  readonly url: string;
  readonly connection: RedisConnection;
}

/** The handle of a server on a port. */
export function portHandle(host: string, port: number): RedisHandle {
  return { url: `redis://${host}:${port}`, connection: { host, port } };
}

/** The handle of a server on a unix socket. */
export function socketHandle(path: string): RedisHandle {
  return { url: path, connection: { path } };
}

/** The same server and login by another way: what listens on this port leads to `connection`. */
export function byWayOf(connection: RedisConnection, host: string, port: number): RedisHandle {
  const { host: _host, path: _path, ...login } = connection;
  const { username = '', password, db } = login;
  const user = encodeURIComponent(username);
  const credentials = password === undefined ? '' : `${user}:${encodeURIComponent(password)}@`;
  const database = db === undefined ? '' : `/${db}`;
  return {
    url: `redis${login.tls === undefined ? '' : 's'}://${credentials}${host}:${port}${database}`,
    connection: { ...login, host, port },
  };
}

/**
 * The handle for a `redis://` or `rediss://` URL or an absolute socket path. Anything else is
 * refused with an error that begins with `field`, the name of the setting it came from.
 */
export function parseRedisUrl(url: string, field: string): RedisHandle {
  if (url.startsWith('/')) return socketHandle(url);
  const parts = URL.canParse(url) ? new URL(url) : undefined;
  if (parts === undefined || !['redis:', 'rediss:'].includes(parts.protocol) || !parts.hostname) {
    throw new Error(
      `${field} must be redis://host:port, rediss://host:port or the path of a unix socket, ` +
        `not ${JSON.stringify(url)}`,
    );
  }
  const db = parts.pathname.slice(1);
  if (!/^\d*$/.test(db)) {
    throw new Error(`${field} must name its database by a number, not ${JSON.stringify(db)}`);
  }
  return {
    url,
    connection: {
      host: parts.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: parts.port === '' ? 6379 : Number(parts.port),
      ...(parts.username !== '' && { username: decodeURIComponent(parts.username) }),
      ...(parts.password !== '' && { password: decodeURIComponent(parts.password) }),
      ...(db !== '' && { db: Number(db) }),
      ...(parts.protocol === 'rediss:' && { tls: {} }),
    },
  };
}

/** A URL as an error message may show it: without its password. */
export function withoutPassword(url: string): string {
  return url.replace(/^(rediss?:\/\/[^:@/]*):[^@]*@/, '$1:***@');
}
