/** A stream that may be silent for hours, and behind which there may be nobody any more. */
export interface Silence {
  /** Something came. */
  heard(): void;
  stop(): void;
}

/**
 * Looks after a silent stream: whenever nothing came for a time, its server is asked whether it is there. A stream whose
 * server answers is left alone, however silent it is.
 *
 * @param ms of silence, in milliseconds
 * @param isThere asks the server; false when nothing answers
 * @param dead told once, when nothing answers
 */
export function watchSilence(ms: number, isThere: () => Promise<boolean>, dead: () => void): Silence {
  let stopped = false;
  let times = 0;
  let timer: NodeJS.Timeout | undefined;
  const look = async () => {
    const before = times;
    if ((await isThere()) || times !== before) start();
    else if (!stopped) dead();
  };
  const start = () => {
    if (stopped) return;
    timer = setTimeout(() => {
      timer = undefined;
      void look();
    }, ms).unref();
  };
  start();
  return {
    heard() {
      times += 1;
      timer?.refresh();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
