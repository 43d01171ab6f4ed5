/**
 * The same text with characters of its own. A key cut out of a header would keep that whole header
 * in memory for as long as the copy's owner lives.
 */
export function ownText(key: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of Latin-1 is meant
  const encoding = /^[\u0000-\u00ff]*$/.test(key) ? 'latin1' : 'utf16le';
  return Buffer.from(key, encoding).toString(encoding);
}
