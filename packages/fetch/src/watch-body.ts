/**
 * The same body, and `onEnd` once: true when it was read to its end, false when it broke or was given up
 * by its reader. A body that nobody reads or gives up never ends.
 */
export function watchBody(body: ReadableStream, onEnd: (isWhole: boolean) => void): ReadableStream {
  const reader = body.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          controller.close();
          onEnd(true);
        } catch (error) {
          onEnd(false);
          throw error;
        }
      },
      cancel(reason) {
        onEnd(false);
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
