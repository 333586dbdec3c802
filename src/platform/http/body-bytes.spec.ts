import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { BodyBytes } from './body-bytes';

/** `--expose-gc` is set by the environment of the tests. */
const collectGarbage = runInNewContext('gc') as () => void;

function bytesInUse(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('the bytes of a body', () => {
  it('are those of its chunks, in their order', () => {
    const size = fc.oneof(fc.nat(10), fc.nat(5_000), fc.constantFrom(4_095, 4_096, 16_384));
    fc.assert(
      fc.property(fc.array(size, { maxLength: 50 }), (sizes) => {
        const chunks = sizes.map((bytes, index) => Buffer.alloc(bytes, index + 1));
        const body = new BodyBytes();
        for (const chunk of chunks) body.add(chunk);
        const whole = Buffer.concat(chunks);
        expect(body.length).toBe(whole.length);
        expect(body.join().equals(whole)).toBe(true);
      }),
    );
  });

  it('are not copied if there is one chunk', () => {
    const chunk = Buffer.from('{}');
    const body = new BodyBytes();
    body.add(chunk);
    expect(body.join()).toBe(chunk);
  });

  it('take little more memory than their number, however small the chunks are', () => {
    const bodies = Array.from({ length: 4 }, () => new BodyBytes());
    const before = bytesInUse();
    for (const body of bodies) {
      for (let count = 0; count < 250_000; count += 1)
        body.add(Buffer.from(new Uint8Array(1).buffer));
    }
    expect(bytesInUse() - before).toBeLessThan(3_000_000);
    expect(bodies.map(({ length }) => length)).toEqual([250_000, 250_000, 250_000, 250_000]);
  });
});
