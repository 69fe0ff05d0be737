import { expect, it } from "vitest";
import { chineseWording } from "../build/chinese-wording.ts";

const mainland = chineseWording("zh");
const taiwan = chineseWording("zh-Hant");

it.each([
  ["DJ", "Djibouti", "吉布地市", "吉布提市"],
  ["RW", "Kigali", "吉佳利", "基加利"],
  ["BW", "Gaborone", "嘉柏隆里", "哈博罗内"],
  ["BN", "Brunei-Muara", "汶莱摩拉", "文莱摩拉"],
  ["IR", "West Azerbaijan", "西亚塞拜然", "西阿塞拜疆"],
  [
    "BA",
    "Federation of Bosnia and Herzegovina",
    "波士尼亚与赫塞哥维纳联邦",
    "波斯尼亚和黑塞哥维那联邦",
  ],
  ["AE", "Dubai", "迪拜酋长国", "迪拜酋长国"],
  ["US", "Georgia", "佐治亚", "佐治亚"],
  ["NG", "Niger", "尼日尔", "尼日尔"],
])("mainland China says of %s-%s, for %s: %s", (country, english, name, own) => {
  expect(mainland(name, { english, country })).toBe(own);
});

it.each([
  ["TR", "Istanbul", "伊斯坦布爾", "伊斯坦堡"],
  ["LA", "Vientiane", "萬象", "永珍"],
  ["KZ", "East Kazakhstan", "東哈薩克斯坦", "東哈薩克"],
  ["TZ", "Dar es Salaam", "達累斯薩拉姆", "沙蘭港"],
  ["RU", "Sakhalin", "薩哈林", "庫頁島"],
  ["TW", "Taipei", "臺北市", "臺北市"],
  ["US", "Georgia", "喬治亞", "喬治亞"],
  ["PH", "Surigao del Norte", "北蘇里高", "北蘇里高"],
])("Taiwan says of %s-%s, for %s: %s", (country, english, name, own) => {
  expect(taiwan(name, { english, country })).toBe(own);
});
