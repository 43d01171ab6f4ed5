import { expect, test } from 'vitest';
import { encodeCommand, ReplyCounter } from '../src/resp.js';

test('a command is an array of bulk strings whose lengths are in bytes', () => {
  expect(encodeCommand(['SET', 'é', 7, Buffer.from([0xff])]).toString('latin1')).toBe(
    '*4\r\n$3\r\nSET\r\n$2\r\n\xc3\xa9\r\n$1\r\n7\r\n$1\r\n\xff\r\n',
  );
});

const REPLIES = Buffer.from('*2\r\n:12\r\n:-3\r\n*3\r\n:1\r\n:0\r\n:42\r\n*2\r\n:7\r\n:8\r\n');

test('every array is counted once, wherever the stream is cut', () => {
  for (let size = 1; size <= REPLIES.length; size++) {
    const counter = new ReplyCounter();
    let counted = 0;
    for (let at = 0; at < REPLIES.length; at += size) {
      counted += counter.count(REPLIES.subarray(at, at + size));
    }
    expect(counted).toBe(3);
  }
});

test('an error is thrown, with what it says', () => {
  const answer = Buffer.from(':12\r\n-NOSCRIPT No matching script\r\n');
  expect(() => new ReplyCounter().count(answer)).toThrow('Redis answered -NOSCRIPT No matching');
});
