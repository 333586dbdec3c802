import { Body, Controller, Patch, Post, type Type } from '@nestjs/common';
import { IdempotencyInterceptor } from '../idempotency/idempotency.interceptor';
import { Operation } from './operation';
import { IfMatch } from './versions';

const texts = { summary: 'Write', description: 'Writes.', access: 'public' } as const;

function interceptorsOf(controller: Type<unknown>): readonly unknown[] {
  return Object.values(Object.getOwnPropertyDescriptors(controller.prototype))
    .filter(({ value }) => value !== controller)
    .map(({ value }) => Reflect.getMetadata('__interceptors__', value as object) as unknown);
}

describe('Operation', () => {
  it('refuses a handler with a body that does not state whether it takes an idempotency key', () => {
    const declare = () => {
      @Controller()
      class Writes {
        @Post() @Operation(texts) write(@Body() body: object) {
          return body;
        }
      }
      return Writes;
    };
    expect(declare).toThrow('The operation "Write" must state its key');
  });

  it('takes idempotency keys on a POST with `key` alone', () => {
    @Controller()
    class Writes {
      @Post() @Operation({ ...texts, key: 'optional' }) keyed(@Body() body: object) {
        return body;
      }
      @Post() @Operation({ ...texts, reads: 'body' }) unkeyed(@Body() body: object) {
        return body;
      }
      @Patch() @Operation(texts) changed(@Body() body: object, @IfMatch() expected: unknown) {
        return [body, expected];
      }
    }
    expect(interceptorsOf(Writes)).toEqual([[IdempotencyInterceptor], undefined, undefined]);
  });
});
