/** Hash slots of a Redis Cluster. A power of two. */
export const SLOTS = 16_384;

/** CRC-16/XMODEM, as the specification of Redis Cluster has it: what a byte does to the upper half. */
const TABLE: Uint16Array = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

/** The check value behind one more byte. */
export function nextCrc(crc: number, byte: number): number {
  return ((crc << 8) & 0xffff) ^ (TABLE[((crc >> 8) ^ byte) & 0xff] as number);
}

/** @param text ASCII */
export function crcOf(text: string): number {
  let crc = 0;
  for (let i = 0; i < text.length; i++) crc = nextCrc(crc, text.charCodeAt(i));
  return crc;
}

/**
 * The slot, from 0 to 16,383, that a Redis Cluster keeps keys with this hash tag in: what
 * `CLUSTER KEYSLOT` says of it.
 * @param tag ASCII without braces, such as an encoded partition key; of other text it is any slot
 */
export function slotOf(tag: string): number {
  return crcOf(tag) % SLOTS;
}
