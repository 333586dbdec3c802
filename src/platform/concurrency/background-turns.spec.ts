import { BackgroundTurns } from './background-turns';

describe('turns of background work', () => {
  let turns: BackgroundTurns;
  let hasRequests: boolean;
  /** Functions that end the running pieces, by name. */
  let running: Map<string, () => void>;
  let ended: string[];

  beforeEach(() => {
    jest.useFakeTimers();
    turns = new BackgroundTurns();
    hasRequests = true;
    turns.takeTurnsWhile(() => hasRequests);
    running = new Map();
    ended = [];
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  const piece = (name: string) => (): Promise<void> =>
    new Promise((resolve) => {
      running.set(name, () => {
        running.delete(name);
        resolve();
      });
    });

  function inBackground(...names: readonly string[]): void {
    for (const name of names) {
      void turns.inBackground(() => turns.runPiece(piece(name))).then(() => ended.push(name));
    }
  }

  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);
  const runningNow = () => [...running.keys()];

  /** Ends a piece after it has run for this time. */
  async function end(name: string, afterMs: number): Promise<void> {
    await pass(afterMs);
    running.get(name)?.();
    await pass(0);
  }

  it('run one piece at a time while there are requests, and nothing for as long after it', async () => {
    inBackground('first', 'second');
    await end('first', 30);
    expect([runningNow(), ended]).toEqual([[], ['first']]);
    await pass(29);
    expect(runningNow()).toEqual([]);
    await pass(1);
    expect(runningNow()).toEqual(['second']);
  });

  it('do not wait without requests', async () => {
    hasRequests = false;
    inBackground('first', 'second');
    await pass(0);
    expect(runningNow()).toEqual(['first', 'second']);
  });

  it('are for background work only', async () => {
    inBackground('background');
    void turns.runPiece(piece('request'));
    await pass(0);
    expect(runningNow()).toHaveLength(2);
  });

  it('end when the piece fails', async () => {
    const failing = turns.runBackgroundPiece(() => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    inBackground('next');
    await pass(0);
    expect(runningNow()).toEqual(['next']);
  });

  it('are not waited for too long, as a piece may take minutes', async () => {
    inBackground('minutes', 'other');
    await pass(499);
    expect(runningNow()).toEqual(['minutes']);
    await pass(1);
    expect(runningNow()).toEqual(['minutes', 'other']);
  });

  it('let a long piece rest longer than all others', async () => {
    inBackground('long');
    await end('long', 1_000);
    await pass(249);
    inBackground('next');
    await pass(1);
    expect([runningNow(), ended]).toEqual([['next'], []]);
    await pass(750);
    expect(ended).toEqual(['long']);
  });
});
