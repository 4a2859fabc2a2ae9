"""Chinese, simplified; the rules' words as the rules pages have them (P64): 墩 trick, 叫牌 bid, 禁叫 barred bid."""

from typing import Final

from services.coach.domain.languages import Language

CHINESE: Final = Language(
    plural=lambda _: "other",
    categories=("other",),
    player="{number}号玩家",
    own="{player}（你）",
    joined="和",
    space="",
    decimal=".",
    texts={
        "won": {"other": "{player}以{points}分获胜，领先{other} {n}分。"},
        "won_level": {"other": "{player}与{other}同为{points}分，按同分规则{player}获胜。"},
        "won_plain": {"other": "{players}赢得了这一局。"},
        "led_throughout": {"other": "{player}从第一轮起一路领先到底。"},
        "lead_taken": {"other": "领先者换了{n}次，直到第{round}轮{player}取得领先并保持到最后。"},
        "turning_point": {"other": "转折点是第{round}轮：{player} {score}分，{other} {other_score}分。"},
        "made_streak": {"other": "最长的连续完成叫牌：{player}，第{first}到第{last}轮，共{n}轮。"},
        "missed_streak": {"other": "最长的连续失误：{player}，第{first}到第{last}轮，共{n}轮。"},
        "barred": {
            "other": "禁叫让发牌人失手{n}次；代价最大的是第{round}轮：{player}不能叫{barred}，叫了{bid}，结果还是拿了"
            "{barred}墩。"
        },
        "last_climb": {"other": "最后一轮（{n}张牌）改变了名次：{player}得{score}分，从第{before}名升到第{after}名。"},
        "last_made": {"other": "最后一轮（{n}张牌），{player}叫{bid}并完成。"},
        "last_missed": {"other": "最后一轮（{n}张牌），{player}叫{bid}，拿了{taken}墩，仍然获胜。"},
        "own_grade": {"other": "你的评级是{grade}：平均每轮损失{loss}分期望分。"},
        "own_dearest_bid": {"other": "你代价最大的决定在第{round}轮：叫了{made}，而{best}的期望要高{loss}分。"},
        "own_dearest_play": {"other": "你代价最大的决定在第{round}轮：出了{made}，而{best}的期望要高{loss}分。"},
    },
)
