import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SealedColumns, SecretBox } from '../secrets';
import type { Answer } from './idempotency.types';
import { withoutPrincipal } from './keyed-request';

@Injectable()
export class SealedAnswers implements OnModuleInit {
  constructor(
    private readonly box: SecretBox,
    private readonly sealedColumns: SealedColumns,
  ) {}

  onModuleInit(): void {
    this.sealedColumns.register({
      table: 'idempotency_key',
      key: 'key',
      column: 'answer_body',
      ownerOf: (storedKey) => ownerOf(withoutPrincipal(storedKey)),
    });
  }

  /**
   * Encrypts an answer, which must be stored in the open transaction.
   * @param key key as the client sent it
   */
  async seal(answer: Answer, key: string): Promise<Answer> {
    return { ...answer, body: await this.box.sealToStore(answer.body, ownerOf(key)) };
  }

  open(answer: Answer, key: string): Answer {
    return { ...answer, body: this.box.open(answer.body, ownerOf(key)) };
  }
}

function ownerOf(key: string): string {
  return `idempotency_key ${key}`;
}
